package terrace.applications;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.ProtocolHandler;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/**
 * A Tomcat without a pool: whatever arrives gets a new thread. The load comes from threads of this JVM, which wait for an answer before
 * they send the next request.
 */
final class Http implements Workload {
    private final Connections connections;

    /** What a client's connection is for. */
    enum Connections {
        /** A connection, and with it a thread, for each request. */
        ONE_FOR_EACH_REQUEST,
        /** One connection for all requests, each of which gets a thread of the server's. */
        KEPT
    }

    Http(Connections connections) {
        this.connections = connections;
    }

    private boolean kept() {
        return connections == Connections.KEPT;
    }

    @Override
    public String name() {
        return kept() ? "http-request" : "http-connection";
    }

    @Override
    public String summary() {
        return kept()
                ? "Tomcat with a thread per request; --threads clients keep a connection and send requests"
                : "Tomcat with a thread per connection; --threads clients open one for each request";
    }

    @Override
    public int defaultThreads() {
        return 16;
    }

    @Override
    public double defaultWarmup() {
        return 8;
    }

    @Override
    public boolean allocatesInWorkers() {
        return false;
    }

    @Override
    public Prepared prepare(Parameters parameters) throws IOException, LifecycleException {
        Path folder = Files.createTempDirectory("terrace-tomcat");
        Tomcat tomcat = server(folder.toFile());
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        return new Prepared() {
            @Override
            public String operation() {
                return kept() ? "request answered" : "connection opened, request answered, connection closed";
            }

            @Override
            public Map<String, Object> findings() throws IOException, LifecycleException {
                tomcat.stop();
                tomcat.destroy();
                try (Stream<Path> files = Files.walk(folder)) {
                    files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
                }
                return Map.of();
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new HttpClient(port, kept(), index, tally);
            }
        };
    }

    private static Tomcat server(File folder) {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.getPath());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
        connector.setProperty("maxKeepAliveRequests", "-1");
        ProtocolHandler protocol = connector.getProtocolHandler();
        Executor withoutPool = task -> new Thread(task, "terrace-http").start();
        protocol.setExecutor(withoutPool);
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", folder.getPath());
        Tomcat.addServlet(context, "items", new Items());
        context.addServletMappingDecoded("/items", "items");
        return tomcat;
    }
}
