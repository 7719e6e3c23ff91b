package terrace.applications;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import terrace.workloads.CheckException;
import terrace.workloads.Tally;
import terrace.workloads.Worker;

/** A client that asks Keycloak for a token in its own name, over one connection, and looks whether it is for the one who asked. */
final class TokenClient implements Worker {
    static final String PATH = "/realms/master/protocol/openid-connect/token";
    static final String CLIENT = "terrace";
    static final String SECRET = "c9c3a3a8d54e4b0f";

    private static final String LENGTH = "content-length:";
    private static final int LARGEST_ANSWER = 1 << 16;
    private static final int TIMEOUT_MILLIS = 60_000;

    private final int port;
    private final Tally tally;
    private final byte[] request;
    private final byte[] received = new byte[LARGEST_ANSWER];
    private Socket connection;

    TokenClient(int port, Tally tally) {
        this.port = port;
        this.tally = tally;
        String form = "grant_type=client_credentials&client_id=" + CLIENT + "&client_secret=" + SECRET;
        String head = "POST " + PATH + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                + "Content-Length: " + form.length() + "\r\n\r\n";
        request = (head + form).getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void begin() throws IOException {
        connection = new Socket(InetAddress.getLoopbackAddress(), port);
        connection.setSoTimeout(TIMEOUT_MILLIS);
        connection.setTcpNoDelay(true);
    }

    @Override
    public void batch() throws IOException, CheckException {
        connection.getOutputStream().write(request);
        String claims = claims(token(answer(connection.getInputStream())));
        if (!claims.contains("\"azp\":\"" + CLIENT + "\"")) {
            throw new CheckException("a token is not for " + CLIENT + ": " + claims);
        }
        tally.add(1);
    }

    @Override
    public void end() throws IOException {
        connection.close();
    }

    /** The body of a successful answer. */
    private String answer(InputStream from) throws IOException, CheckException {
        int length = 0;
        int body = -1;
        int whole = Integer.MAX_VALUE;
        while (length < whole) {
            int read = from.read(received, length, received.length - length);
            if (read <= 0) {
                throw new EOFException("the server closed the connection during an answer");
            }
            length += read;
            if (body < 0) {
                String head = new String(received, 0, length, StandardCharsets.ISO_8859_1);
                int end = head.indexOf("\r\n\r\n");
                if (end >= 0) {
                    body = end + 4;
                    whole = body + contentLength(head.substring(0, end));
                }
            }
        }
        return new String(received, body, length - body, StandardCharsets.UTF_8);
    }

    private static int contentLength(String head) throws CheckException {
        int at = head.toLowerCase(Locale.ROOT).indexOf(LENGTH);
        if (!head.startsWith("HTTP/1.1 200 ") || at < 0) {
            throw new CheckException("a wrong answer: " + head.lines().findFirst().orElse(""));
        }
        return Integer.parseInt(head.substring(at + LENGTH.length()).lines().findFirst().orElse("").trim());
    }

    /** The token in an answer. */
    static String token(String json) throws CheckException {
        String before = "\"access_token\":\"";
        int from = json.indexOf(before);
        if (from < 0) {
            throw new CheckException("an answer without a token: " + json);
        }
        return json.substring(from + before.length(), json.indexOf('"', from + before.length()));
    }

    /** What a token claims. */
    static String claims(String token) throws CheckException {
        String[] parts = token.split("\\.");
        if (parts.length != 3) {
            throw new CheckException("a token of " + parts.length + " parts, not 3: " + token);
        }
        return new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
    }
}
