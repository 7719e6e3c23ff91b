package terrace.applications;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import terrace.workloads.CheckException;

class HttpClientTest {
    /** Answers one request with these bytes, in two pieces, and closes. */
    private static Thread server(ServerSocket socket, byte[] body) {
        Thread thread = new Thread(() -> {
            try (Socket connection = socket.accept()) {
                connection.getInputStream().read(new byte[1000]);
                byte[] head = "HTTP/1.1 200 \r\nContent-Type: application/json\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
                connection.getOutputStream().write(head, 0, 20);
                connection.getOutputStream().flush();
                connection.getOutputStream().write(head, 20, head.length - 20);
                connection.getOutputStream().write(body);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        return thread;
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1})
    void onlyTheRightAnswerCounts(int longer) throws Exception {
        byte[] right = Items.answer(3);
        byte[] wrong = right.clone();
        wrong[right.length / 2]++;
        byte[] body = longer == 0 ? wrong : Arrays.copyOf(right, right.length + longer);
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread server = server(socket, body);
            HttpClient client = new HttpClient(socket.getLocalPort(), false, 3, null);
            String message = assertThrows(CheckException.class, client::batch).getMessage();
            assertTrue(message.contains("HTTP/1.1 200"), message);
            server.join();
        }
    }

    @Test
    void aRunTellsItsLatencies() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<String> line = List.of("http-request", "--threads", "2", "--seconds", "0.3", "--warmup", "0.3");
        int code = terrace.workloads.Main.run(Main.PROGRAMS, line, new PrintStream(out), new PrintStream(out));
        String said = out.toString();
        assertTrue(code == 0 && said.contains("\"checks\":\"passed\""), said);
        for (String field : List.of("timed_operations", "p50_ms", "p99_ms", "p999_ms", "peak_resident_bytes")) {
            assertTrue(said.contains("\"" + field + "\":"), said);
        }
    }
}
