package terrace.applications;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import terrace.workloads.CheckException;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.UsageException;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/**
 * Keycloak with its database in memory: clients ask for tokens. The server is the whole distribution, as {@code kc.sh start
 * --optimized} begins it, in this JVM; so are the clients, which wait for an answer before they ask again.
 */
final class Keycloak implements Workload {
    private static final String ENTRY = "io.quarkus.bootstrap.runner.QuarkusEntryPoint";
    private static final String ADMINISTRATOR = "administrator";
    private static final String PASSWORD = "of-this-run-alone";
    private static final int CREATED = 201;
    private static final int SUCCESSFUL = 200;
    /** It takes 10 s, on a machine with much else to do many times that. */
    private static final long LONGEST_START_MILLIS = 600_000;
    private static final long POLL_MILLIS = 100;

    @Override
    public String name() {
        return "keycloak";
    }

    @Override
    public String summary() {
        return "Keycloak with its database in memory; --threads clients request tokens";
    }

    @Override
    public int defaultThreads() {
        return 16;
    }

    @Override
    public double defaultWarmup() {
        return 15;
    }

    @Override
    public boolean allocatesInWorkers() {
        return false;
    }

    @Override
    public Prepared prepare(Parameters parameters) throws Exception {
        int port = start(Home.folder().resolve("keycloak"));
        createClient(port);
        return new Prepared() {
            @Override
            public String operation() {
                return "token issued";
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new TokenClient(port, tally);
            }

            @Override
            public Map<String, Object> findings() {
                // It ends with this JVM: its own shutdown hook does that.
                return Map.of();
            }
        };
    }

    /** Starts the server; its port, once it answers. */
    private static int start(Path home) throws Exception {
        if (!Files.isDirectory(home)) {
            throw new UsageException(home + " not found: fetch it with 'cargo xtask applications --fetch'");
        }
        int port = freePort();
        Map.of(
                        "kc.home.dir", home.toString(),
                        "jboss.server.config.dir", home.resolve("conf").toString(),
                        "kc.config.built", "true",
                        "kc.log-level", "error",
                        "kc.bootstrap-admin-username", ADMINISTRATOR,
                        "kc.bootstrap-admin-password", PASSWORD,
                        "picocli.disable.closures", "true")
                .forEach(System::setProperty);
        String[] line = {
            "start", "--optimized", "--cache=local", "--http-enabled=true", "--hostname-strict=false",
            "--http-host=" + InetAddress.getLoopbackAddress().getHostAddress(), "--http-port=" + port
        };
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread server = new Thread(
                () -> {
                    try {
                        Class.forName(ENTRY).getMethod("main", String[].class).invoke(null, (Object) line);
                    } catch (ReflectiveOperationException e) {
                        failure.set(e.getCause() == null ? e : e.getCause());
                    }
                },
                "keycloak");
        server.setDaemon(true);
        server.start();
        long deadline = System.nanoTime() + LONGEST_START_MILLIS * 1_000_000;
        while (!answers(port)) {
            if (failure.get() != null) {
                throw new CheckException("Keycloak did not start: " + failure.get());
            }
            if (System.nanoTime() > deadline) {
                throw new CheckException("Keycloak sent no answer within " + LONGEST_START_MILLIS / 1000
                        + " s: use a machine that is less busy");
            }
            Thread.sleep(POLL_MILLIS);
        }
        return port;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static boolean answers(int port) {
        try {
            return open(port, "/realms/master").getResponseCode() == SUCCESSFUL;
        } catch (IOException e) {
            return false;
        }
    }

    /** A client that may ask for tokens in its own name. */
    private static void createClient(int port) throws IOException, CheckException {
        HttpURLConnection login = open(port, TokenClient.PATH);
        String form = "client_id=admin-cli&grant_type=password&username=" + ADMINISTRATOR + "&password=" + PASSWORD;
        int code = send(login, "application/x-www-form-urlencoded", form);
        if (code != SUCCESSFUL) {
            throw new CheckException("Keycloak refused its administrator with " + code);
        }
        String token = TokenClient.token(body(login));
        HttpURLConnection create = open(port, "/admin/realms/master/clients");
        create.setRequestProperty("Authorization", "Bearer " + token);
        String client = "{\"clientId\":\"" + TokenClient.CLIENT + "\",\"secret\":\"" + TokenClient.SECRET
                + "\",\"serviceAccountsEnabled\":true,\"publicClient\":false}";
        code = send(create, "application/json", client);
        if (code != CREATED) {
            throw new CheckException("Keycloak did not create a client: " + code);
        }
    }

    private static HttpURLConnection open(int port, String path) throws IOException {
        String host = InetAddress.getLoopbackAddress().getHostAddress();
        return (HttpURLConnection) URI.create("http://" + host + ":" + port + path).toURL().openConnection();
    }

    private static int send(HttpURLConnection connection, String type, String body) throws IOException {
        connection.setDoOutput(true);
        connection.setRequestProperty("Content-Type", type);
        connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        return connection.getResponseCode();
    }

    private static String body(HttpURLConnection connection) throws IOException {
        try (InputStream from = connection.getInputStream()) {
            return new String(from.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
