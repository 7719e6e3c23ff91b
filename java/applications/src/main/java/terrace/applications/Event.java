package terrace.applications;

import java.util.ArrayList;
import java.util.List;
import terrace.workloads.CheckException;

/** What a native thread does in Java: it takes a message of a few KB apart and adds up its fields. */
final class Event {
    private static final int FIELDS = 24;

    private volatile long number;
    private volatile long sum;

    void expect(long next) {
        number = next;
        sum = -1;
    }

    /** Called on the native thread. */
    void handle() {
        StringBuilder message = new StringBuilder("event");
        for (int i = 0; i < FIELDS; i++) {
            message.append(';').append(i).append('=').append(number + i);
        }
        List<String> fields = new ArrayList<>(List.of(message.toString().split(";")));
        long all = 0;
        for (String field : fields.subList(1, fields.size())) {
            all += Long.parseLong(field.substring(field.indexOf('=') + 1));
        }
        sum = all;
    }

    void check(long expected) throws CheckException {
        long right = FIELDS * expected + FIELDS * (FIELDS - 1) / 2;
        if (sum != right) {
            throw new CheckException("a callback gave " + sum + ", not " + right);
        }
    }
}
