package terrace;

import java.nio.charset.StandardCharsets;

/** What {@code libterrace.so} does ({@code crates/agent/src/java.rs}). Texts are UTF-8, their fields separated by NUL. */
final class Native {
    private Native() {}

    /** The version, and the names of the counters in their order. */
    static native byte[] describe();

    /** A refusal is only given back. */
    static final int QUIETLY = 0;
    /** It is said on standard error as well. */
    static final int ALOUD = 1;
    /** And with {@code strict=true} the program does not start. */
    static final int AT_START = 2;

    /** Installs. The reason if it does not, or null. */
    static native byte[] install(byte[] options, int manner);

    /** State, mode, message, settings and the names of the levels; null if nothing was ever tried. */
    static native byte[] status();

    /**
     * Pauses, calls of {@code ensure_parsability}; then for each level the number of its domains, the bytes of a buffer, the bytes that its buffers
     * hold, and for each domain all counters. Null if nothing was ever tried.
     */
    static native long[] counters();

    /** Switches the buffers; whether there are any. */
    static native boolean turn(boolean on);

    /** The number of the installation that the calling thread has made last; 0 if it has made none. Two of a JVM never have the same. */
    static native long installation();

    /** Whichever there is. */
    static final long ANY = 0;

    /** Withdraws the installation of this number, if it is still there. */
    static native void withdraw(long installation);

    static String text(byte[] utf8) {
        return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    static String[] fields(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8).split("\0", -1);
    }
}
