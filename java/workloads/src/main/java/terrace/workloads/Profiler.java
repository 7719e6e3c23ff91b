package terrace.workloads;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a workload in whole rounds on the current thread, and tells what each took.
 *
 * <p>With dumps the heap is written to files right before and right after the measured rounds. Nothing may be collected
 * in between; then the second file differs from the first in every object that the rounds allocated, also those that
 * are dead by then.
 */
final class Profiler {
    /** The file with the heap before the measured rounds. */
    static final String BEFORE = "before.hprof";

    /** The file with the heap after them. */
    static final String AFTER = "after.hprof";

    private final ProfileOptions options;
    private final Progress progress;
    private final Tally rounds;

    private Profiler(ProfileOptions options) throws UsageException {
        this.options = options;
        this.progress = options.parameters().progress() == null
                ? Progress.inMemory(1)
                : Progress.inFile(options.parameters().progress(), 1);
        this.rounds = new Tally(progress, 0);
    }

    /** Runs what the options ask for; the result is one line of JSON. */
    static String run(ProfileOptions options) throws Exception {
        return new Profiler(options).run();
    }

    private String run() throws Exception {
        Workload.Prepared prepared = options.workload().prepare(options.parameters());
        int batches = prepared.batchesInRound();
        if (batches == 0) {
            throw new UsageException(options.workload().name() + " has no rounds: use profile javac");
        }
        Worker worker = prepared.worker(0, new Tally(Progress.inMemory(1), 0));
        worker.begin();
        progress.phase(Progress.Phase.WARMING_UP);
        List<Round> warmup = rounds(worker, batches, options.warmupRounds());
        progress.phase(Progress.Phase.MEASURING);
        List<Round> measured = options.dumps() == null
                ? rounds(worker, batches, options.rounds())
                : betweenDumps(worker, batches);
        worker.end();
        progress.phase(Progress.Phase.FINISHED);
        return json(prepared, batches, warmup, measured);
    }

    private List<Round> rounds(Worker worker, int batches, int wanted) throws Exception {
        List<Round> done = new ArrayList<>(wanted);
        for (int round = 0; round < wanted; round++) {
            Round from = Round.now();
            for (int batch = 0; batch < batches; batch++) {
                worker.batch();
            }
            done.add(Round.now().since(from));
            rounds.add(1);
        }
        return done;
    }

    private List<Round> betweenDumps(Worker worker, int batches) throws Exception {
        // An empty young generation has the most room for what is to come.
        System.gc();
        dump(BEFORE);
        long collections = Snapshot.collectionsSoFar();
        List<Round> measured = rounds(worker, batches, options.rounds());
        dump(AFTER);
        if (Snapshot.collectionsSoFar() != collections) {
            throw new CheckException("a collection removed objects before they were counted: use a larger "
                    + "young generation (-Xmn), or fewer --rounds");
        }
        return measured;
    }

    private void dump(String name) throws UsageException {
        Path file = options.dumps().resolve(name);
        try {
            boolean live = false;
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(file.toString(), live);
        } catch (IOException e) {
            throw new UsageException("--dumps " + options.dumps() + " cannot be written (" + e.getMessage()
                    + "): specify a directory with several GB of free space and without older dumps");
        }
    }

    private String json(Workload.Prepared prepared, int batches, List<Round> warmup, List<Round> measured) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("workload", options.workload().name());
        fields.put("facts", prepared.facts());
        fields.put("batches_in_round", batches);
        fields.put("warmup", warmup.stream().map(Round::fields).toList());
        fields.put("rounds", measured.stream().map(Round::fields).toList());
        fields.put("checks", "passed");
        return Json.of(fields);
    }
}
