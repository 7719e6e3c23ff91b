package terrace.applications;

import java.util.List;
import java.util.ServiceLoader;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import terrace.workloads.Help;
import terrace.workloads.JavacWorkload;
import terrace.workloads.Workload;
import terrace.workloads.Workloads;

/** The command: {@code java -jar terrace-applications.jar NAME [options]}. */
public final class Main {
    private static final Help HELP = new Help(
            """
            Real programs, driven by their own operations. Each operation is timed, and its result checked.

              java [JVM options] -jar terrace-applications.jar NAME [options]
              java -jar terrace-applications.jar list

            Programs:
            """,
            """
            Options:
              --threads N      threads that perform operations, each one at a time
              --seconds S      length of the measured window (default 10)
              --warmup S       seconds of work before it, for JIT compilation
              --operations N   ends after N operations, instead of --seconds
              --sources JAR    sources for the compilers (default: commons-lang3's beside terrace-workloads)
              --progress FILE  a file to map: phase and operations of each thread, live
              --calls FILE     a new file to map: begin, end and CPU time of each call of javac and its steps
              --window external  the process that maps FILE lets the work begin, and opens and closes the measured window
              --format FORMAT  json (default): one object on one line; text: for people

            Operations that end within the measured window are counted. Exit code 0: measured, and
            every check passed. 1: a result was wrong, or the program could not continue. 2: the command
            line cannot be carried out.

            Try:
              java -XX:+UseParallelGC -Xmx512m -jar terrace-applications.jar h2 --format text
            """);

    /**
     * All programs: a new one is an entry here, or, where its libraries get along with no others, a service in a jar of its own.
     */
    static final Workloads PROGRAMS = new Workloads(
            "terrace-applications",
            HELP,
            Stream.concat(
                            Stream.of(
                                    new H2(),
                                    new Callbacks(),
                                    new CallbacksJni(),
                                    new Http(Http.Connections.ONE_FOR_EACH_REQUEST),
                                    new Http(Http.Connections.KEPT),
                                    new Keycloak(),
                                    new JavacWorkload(),
                                    new Ecj()),
                            ServiceLoader.load(Workload.class).stream().map(ServiceLoader.Provider::get))
                    .<Workload>map(Timed::new)
                    .toList());

    /** Tomcat's and Lucene's, held: a level is forgotten with its logger. What they advise here is not ours to follow. */
    private static final Logger LIBRARIES = Logger.getLogger("org.apache");

    static {
        LIBRARIES.setLevel(Level.SEVERE);
    }

    private Main() {}

    /** Runs the command and exits with its code. */
    public static void main(String[] arguments) {
        System.exit(terrace.workloads.Main.run(PROGRAMS, List.of(arguments), System.out, System.err));
    }
}
