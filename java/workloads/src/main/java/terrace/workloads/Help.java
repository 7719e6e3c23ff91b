package terrace.workloads;

import java.util.List;
import java.util.Locale;

/**
 * What a command tells about itself.
 *
 * @param before the list of workloads
 * @param after it
 */
public record Help(String before, String after) {
    static final Help OWN = new Help(
            """
            Programs that allocate in known ways, count their operations and check their own results.

              java [JVM options] -jar terrace-workloads.jar NAME [options]
              java -jar terrace-workloads.jar list
              java [JVM options] -jar terrace-workloads.jar profile javac [profile options]

            Workloads:
            """,
            """
            Options:
              --threads N      workers
              --seconds S      length of the measured window (default 10)
              --warmup S       seconds of work before it, for JIT compilation
              --size BYTES     size of an allocation; its meaning depends on the workload; 100k is 102,400
              --sizes LIST     sizes, churn: these, repeated; 100000,64x20 is one of 100,000, then twenty of 64
              --mixture RANGE  sizes, churn: lengths log-uniform within 16..200k, the same sequence on every run
              --bytes N        sizes: ends after N bytes, such as 20g, instead of --seconds
              --operations N   ends after N operations, instead of --seconds
              --sources JAR    sources for javac (default: commons-lang3's beside this jar)
              --progress FILE  a file to map: phase and operations of each worker, live
              --window external  the process that maps FILE lets the work begin, and opens and closes the measured window
              --calls FILE     a new file to map: begin, end and CPU time of each call of the compiler and its steps
              --format FORMAT  json (default): one object on one line; text: for people

            Options of profile, which runs whole rounds on one thread and reports the cost of each:
              --warmup-rounds N, --rounds N (default 16, 1), --sources, --progress
              --dumps DIR      heap dumps before and after the measured rounds, during which no collection
                               may occur: the difference is every object that they allocated

            Operations that end within the measured window are counted. Exit code 0: measured, and
            every check passed. 1: a result of the workload was wrong, or it could not continue.
            2: the command line cannot be carried out.

            Try:
              java -XX:+UseParallelGC -jar terrace-workloads.jar alloc --threads 2 --format text
              java -XX:+UseParallelGC -XX:TLABSize=1k -XX:-ResizeTLAB -jar terrace-workloads.jar \\
                  alloc --threads 2 --format text
            The second one allocates the same through buffers of 1 KB: the difference is the cost
            of refilling them.
            """);

    /** The answer to {@code --help}. */
    String full(List<Workload> workloads) {
        return before + list(workloads) + after;
    }

    /** The answer to {@code list}: every workload with its defaults on this machine. */
    static String list(List<Workload> workloads) {
        StringBuilder list = new StringBuilder();
        for (Workload workload : workloads) {
            line(list, "  %-15s %s", workload.name(), workload.summary());
            String size = workload.defaultSize().isEmpty()
                    ? ""
                    : "--size " + workload.defaultSize().getAsInt() + " (" + workload.sizeMeaning() + ")";
            line(list, "  %-15s   --threads %d --warmup %.0f %s", "", workload.defaultThreads(),
                    workload.defaultWarmup(), workload.takesSources() ? "--sources JAR" : size);
        }
        return list.toString();
    }

    private static void line(StringBuilder list, String format, Object... values) {
        list.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }
}
