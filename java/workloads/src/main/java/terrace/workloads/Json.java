package terrace.workloads;

import java.util.List;
import java.util.Map;

/** Writes the little JSON that a result needs. */
final class Json {
    private Json() {}

    /** The JSON of a map with string keys, a list, a string, a number, a truth value or null. */
    static String of(Object value) {
        StringBuilder json = new StringBuilder();
        append(json, value);
        return json.toString();
    }

    private static void append(StringBuilder json, Object value) {
        if (value instanceof Map<?, ?> map) {
            appendMap(json, map);
        } else if (value instanceof List<?> list) {
            appendList(json, list);
        } else if (value instanceof Double number && !Double.isFinite(number)) {
            json.append("null");
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            json.append(value);
        } else {
            appendString(json, value.toString());
        }
    }

    private static void appendMap(StringBuilder json, Map<?, ?> map) {
        json.append('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            json.append(separator);
            appendString(json, entry.getKey().toString());
            json.append(':');
            append(json, entry.getValue());
            separator = ",";
        }
        json.append('}');
    }

    private static void appendList(StringBuilder json, List<?> list) {
        json.append('[');
        String separator = "";
        for (Object value : list) {
            json.append(separator);
            append(json, value);
            separator = ",";
        }
        json.append(']');
    }

    private static void appendString(StringBuilder json, String string) {
        json.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
