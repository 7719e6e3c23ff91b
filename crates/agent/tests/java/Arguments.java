import java.util.HashMap;
import java.util.Map;

/** The programs' arguments: {@code key=value}. */
final class Arguments {
    private final Map<String, String> values = new HashMap<>();

    Arguments(String[] args) {
        for (String arg : args) {
            int equals = arg.indexOf('=');
            values.put(arg.substring(0, equals), arg.substring(equals + 1));
        }
    }

    String text(String key, String otherwise) {
        return values.getOrDefault(key, otherwise);
    }

    int number(String key, int otherwise) {
        return Integer.parseInt(text(key, Integer.toString(otherwise)));
    }

    /** Bytes: {@code 64k}, {@code 4m}, or {@code 80%} of the largest heap. */
    long bytes(String key, String otherwise) {
        String text = text(key, otherwise);
        long number = Long.parseLong(text.replaceAll("[km%]$", ""));
        switch (text.charAt(text.length() - 1)) {
            case 'k': return number << 10;
            case 'm': return number << 20;
            case '%': return Runtime.getRuntime().maxMemory() / 100 * number;
            default: return number;
        }
    }
}
