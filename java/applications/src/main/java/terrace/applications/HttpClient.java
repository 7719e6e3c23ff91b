package terrace.applications;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import terrace.workloads.CheckException;
import terrace.workloads.Tally;
import terrace.workloads.Worker;

/** A client that allocates little: what is measured is the server. Every answer is compared with the right one, byte by byte. */
final class HttpClient implements Worker {
    private static final int END_OF_HEAD = 4;
    private static final int LARGEST_ANSWER = 1 << 16;
    private static final int TIMEOUT_MILLIS = 60_000;

    private final int port;
    private final boolean keeps;
    private final Tally tally;
    private final byte[][] requests = new byte[Items.ORDERS][];
    private final byte[][] answers = new byte[Items.ORDERS][];
    private final byte[] received = new byte[LARGEST_ANSWER];
    private int order;
    private Socket connection;

    /** A client of the server at this port. */
    HttpClient(int port, boolean keeps, int index, Tally tally) {
        this.port = port;
        this.keeps = keeps;
        this.tally = tally;
        this.order = index % Items.ORDERS;
        for (int i = 0; i < Items.ORDERS; i++) {
            String request = "GET /items?order=" + i + " HTTP/1.1\r\nHost: localhost\r\n"
                    + (keeps ? "" : "Connection: close\r\n") + "\r\n";
            requests[i] = request.getBytes(StandardCharsets.US_ASCII);
            answers[i] = Items.answer(i);
        }
    }

    @Override
    public void batch() throws IOException, CheckException {
        if (connection == null) {
            connection = new Socket(InetAddress.getLoopbackAddress(), port);
            connection.setSoTimeout(TIMEOUT_MILLIS);
            connection.setTcpNoDelay(true);
        }
        connection.getOutputStream().write(requests[order]);
        receive(connection.getInputStream(), answers[order]);
        if (!keeps) {
            end();
        }
        order = (order + 1) % Items.ORDERS;
        tally.add(1);
    }

    /** Reads until the right answer is there; where the server closes, until it has done so, which leaves no port of ours behind. */
    private void receive(InputStream from, byte[] right) throws IOException, CheckException {
        int length = 0;
        int body = -1;
        while (body < 0 || length < body + right.length || !keeps) {
            int read = from.read(received, length, received.length - length);
            if (read <= 0) {
                break;
            }
            length += read;
            body = body < 0 ? endOfHead(length) : body;
        }
        boolean whole = body >= 0 && length == body + right.length;
        if (!whole || !Arrays.equals(received, body, length, right, 0, right.length)) {
            String head = new String(received, 0, Math.min(length, 80), StandardCharsets.US_ASCII);
            throw new CheckException("a wrong answer of " + length + " bytes: " + head.lines().findFirst().orElse(""));
        }
    }

    private int endOfHead(int length) {
        for (int i = END_OF_HEAD; i <= length; i++) {
            if (received[i - 1] == '\n' && received[i - 2] == '\r' && received[i - 3] == '\n' && received[i - 4] == '\r') {
                return i;
            }
        }
        return -1;
    }

    @Override
    public void end() throws IOException {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }
}
