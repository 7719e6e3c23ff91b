package terrace.workloads;

import com.sun.source.util.JavacTask;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import javax.tools.JavaCompiler.CompilationTask;

/**
 * The steps of a call of javac: a file parsed, entered, a class analyzed or generated. A call takes 20 ms of CPU time, and
 * seconds where a hundred threads share a CPU; a step takes a part of a millisecond.
 *
 * @param onStep is told when one has ended
 */
record Steps(Runnable onStep) implements TaskListener {
    /** Tells of the steps of a task that is about to be called; another compiler's has none. */
    static void of(CompilationTask task, Runnable onStep) {
        if (task instanceof JavacTask) {
            ((JavacTask) task).addTaskListener(new Steps(onStep));
        }
    }

    @Override
    public void finished(TaskEvent event) {
        onStep.run();
    }
}
