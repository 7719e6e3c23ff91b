package terrace.applications.spark;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/** Spark SQL in one process: queries over tables in memory, planned, compiled and run by Spark's own threads. */
public final class Spark implements Workload {
    @Override
    public String name() {
        return "spark";
    }

    @Override
    public String summary() {
        return "Spark SQL in this process; --threads workers query it, each with a join or a filter over 50,000 rows";
    }

    @Override
    public int defaultThreads() {
        return 2;
    }

    @Override
    public double defaultWarmup() {
        return 20;
    }

    @Override
    public boolean allocatesInWorkers() {
        return false;
    }

    @Override
    public Prepared prepare(Parameters parameters) throws IOException {
        Path folder = Files.createTempDirectory("terrace-spark");
        SparkSession session = SparkSession.builder()
                .master("local[" + Runtime.getRuntime().availableProcessors() + "]")
                .appName("terrace")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "localhost")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.local.dir", folder.toString())
                .config("spark.sql.warehouse.dir", folder.resolve("warehouse").toString())
                .config("spark.sql.artifact.isolation.enabled", "false")
                // As many as there are cores here, not in a cluster.
                .config("spark.sql.shuffle.partitions", "2")
                .getOrCreate();
        Sales sales = Sales.in(session);
        return new Prepared() {
            @Override
            public String operation() {
                return "query";
            }

            @Override
            public Map<String, Object> facts() {
                return Map.of("spark", session.version());
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return () -> {
                    long number = tally.total();
                    int question = (int) ((number / 2 + index) % Sales.QUESTIONS);
                    if (number % 2 == 0) {
                        sales.byRegion(question);
                    } else {
                        sales.notes(question);
                    }
                    tally.add(1);
                };
            }

            @Override
            public Map<String, Object> findings() throws IOException {
                session.stop();
                try (Stream<Path> files = Files.walk(folder)) {
                    files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
                }
                return Map.of();
            }
        };
    }
}
