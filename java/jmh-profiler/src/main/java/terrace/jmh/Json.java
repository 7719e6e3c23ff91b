package terrace.jmh;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the JSON that the command prints into a table: {@code levels.0.domains.1.refills} is {@code 52}. */
final class Json {
    private final Map<String, String> values = new LinkedHashMap<>();
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Map<String, String> read(String text) throws IOException {
        Json json = new Json(text);
        json.value("");
        if (!text.substring(json.at).isBlank()) {
            throw json.unexpected();
        }
        return json.values;
    }

    private void value(String path) throws IOException {
        switch (next()) {
            case '{':
                items(path, '}');
                break;
            case '[':
                items(path, ']');
                break;
            case '"':
                values.put(path, string());
                break;
            default:
                values.put(path, word());
        }
    }

    /** What a map or a list has, each under its name or number. */
    private void items(String path, char end) throws IOException {
        at++;
        for (int number = 0; next() != end; number++) {
            if (number > 0) {
                expect(',');
            }
            String name = Integer.toString(number);
            if (end == '}') {
                next();
                name = string();
                expect(':');
            }
            value(path.isEmpty() ? name : path + "." + name);
        }
        at++;
    }

    private String string() throws IOException {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (at < text.length() && text.charAt(at) != '"') {
            // Of what stands behind a backslash only quotes and backslashes matter here.
            at += text.charAt(at) == '\\' ? 1 : 0;
            if (at < text.length()) {
                string.append(text.charAt(at++));
            }
        }
        expect('"');
        return string.toString();
    }

    /** A number, true, false or null. */
    private String word() throws IOException {
        int begin = at;
        while (at < text.length() && (Character.isLetterOrDigit(text.charAt(at)) || "+-.".indexOf(text.charAt(at)) >= 0)) {
            at++;
        }
        if (begin == at) {
            throw unexpected();
        }
        return text.substring(begin, at);
    }

    /** The next letter that is no white space. */
    private char next() throws IOException {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        if (at == text.length()) {
            throw unexpected();
        }
        return text.charAt(at);
    }

    private void expect(char letter) throws IOException {
        if (next() != letter) {
            throw unexpected();
        }
        at++;
    }

    private IOException unexpected() {
        return new IOException("the output of 'terrace status' is not JSON at character " + at);
    }
}
