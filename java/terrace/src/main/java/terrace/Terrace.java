package terrace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import terrace.jfr.FirstRecording;

/**
 * The allocation buffers of this JVM.
 *
 * <pre>{@code
 * try (Terrace terrace = Terrace.start("levels=core")) {
 *     ...
 *     long refills = terrace.counters().total("refills");
 * }
 * }</pre>
 *
 * <p>A JVM has one set of buffers: all objects of this class are views of it. No method throws if there are no buffers or no library; {@link #status} has the
 * reason.
 */
public final class Terrace implements AutoCloseable {
    /** Why the last attempt of all was refused, or null. */
    private static volatile String lastRefused;

    /** Why the library cannot be used, or null. */
    private final String missing;
    /** Why the attempt that made this was refused, or null. */
    private final String refused;
    /** What this object's attempt has installed and {@link #close} has not removed, by its number; {@link Native#ANY} if that is nothing. */
    private final AtomicLong own;

    private Terrace(String missing, String refused, long own) {
        this.missing = missing;
        this.refused = refused;
        this.own = new AtomicLong(own);
    }

    /** {@return a view of this JVM's buffers, whether they were installed by {@code -javaagent}, {@code -agentpath}, {@code terrace attach} or {@link #start}} */
    public static Terrace current() {
        return new Terrace(Library.missing(), null, Native.ANY);
    }

    /**
     * {@return a view of this JVM's buffers after an attempt to install them with options}
     *
     * <p>A refused attempt leaves the JVM unchanged, and may be repeated; what others have installed then stays as it is, also after {@link #close}.
     *
     * @param options as after {@code -javaagent:terrace.jar=}: {@code key=value,key=value}; empty for the defaults
     */
    public static Terrace start(String options) {
        Terrace terrace = install(options, Native.QUIETLY);
        if (terrace.missing == null && ModuleLayer.boot().findModule("jdk.jfr").isPresent()) {
            FirstRecording.await();
        }
        return terrace;
    }

    static Terrace install(String options, int manner) {
        String missing = Library.missing();
        if (missing != null) {
            return new Terrace(missing, null, Native.ANY);
        }
        String refused = Native.text(Native.install(options.getBytes(StandardCharsets.UTF_8), manner));
        lastRefused = refused;
        return new Terrace(null, refused, refused == null ? Native.installation() : Native.ANY);
    }

    /** Why there is no library to ask, or null. */
    String missing() {
        return missing;
    }

    /** {@return what is currently installed, or why nothing is installed} */
    public Status status() {
        if (missing != null) {
            return new Status("absent", false, missing, "");
        }
        byte[] status = Native.status();
        if (status == null) {
            String reason = lastRefused;
            return new Status("absent", false, reason == null ? "nothing was installed" : reason, "");
        }
        String[] fields = Native.fields(status);
        String message = refused != null ? refused : fields[2];
        return new Status(fields[0], fields[1].equals("on"), message, fields[3]);
    }

    /** {@return whether buffers are installed, or requests are counted without buffers ({@code levels=none})} */
    public boolean isActive() {
        return status().isActive();
    }

    /** {@return the counters since the installation; no levels if nothing is installed} */
    public Counters counters() {
        while (missing == null) {
            byte[] status = Native.status();
            long[] numbers = Native.counters();
            if (status == null || numbers == null) {
                break;
            }
            String[] fields = Native.fields(status);
            if (fields[3].isEmpty()) {
                break;
            }
            // Levels of another installation than the numbers: somebody has just put another one in its place.
            if (Arrays.equals(status, Native.status())) {
                return new Counters(Library.counters(), Arrays.copyOfRange(fields, 4, fields.length), numbers);
            }
        }
        return Counters.NONE;
    }

    /**
     * Switches the buffers on again.
     *
     * @return whether the buffers are on; {@code false} if there are none
     */
    public boolean on() {
        return turn(true);
    }

    /**
     * Switches the buffers off: requests go to HotSpot's own functions, at the cost of one test.
     *
     * @return whether there are buffers to switch
     */
    public boolean off() {
        return turn(false);
    }

    private boolean turn(boolean on) {
        return missing == null && Native.turn(on);
    }

    /**
     * Switches the buffers off and removes them from the JVM at the first collection that finds them unused; calling {@link #on} before that keeps them. An
     * installation that only counts ({@code levels=none}) is removed at once. The library stays loaded.
     *
     * <p>It does not matter who installed them: {@link #close} is for those of one's own.
     */
    public void withdraw() {
        if (missing == null) {
            own.set(Native.ANY);
            Native.withdraw(Native.ANY);
        }
    }

    /**
     * As {@link #withdraw} if {@link #start} has installed for this object what is still there, and nothing otherwise: it belongs to somebody else, also where it has replaced what
     * this object has installed.
     */
    @Override
    public void close() {
        long installation = own.getAndSet(Native.ANY);
        if (installation != Native.ANY) {
            Native.withdraw(installation);
        }
    }

    @Override
    public String toString() {
        return "terrace: " + status();
    }
}
