package terrace.workloads;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What each call of a workload's work took, and each of its steps, in a file that another process maps: those of the same
 * kind do the same, so that their CPU time can be compared however much work a stretch of time happens to hold.
 *
 * <p>Native byte order. Header of {@value #HEADER} bytes: {@code TERRCALL}, then 64-bit words: records claimed, records
 * that have room, kinds of calls. A record is four words: the kind plus 1, which is written last, begin and end on
 * {@link System#nanoTime}'s clock, CPU time of the thread in between, in nanoseconds. Kinds of steps follow those of calls.
 */
final class Calls {
    /** A file of so many records takes 128 MB, of memory and disk only what is written. */
    static final int ROOM = 1 << 22;

    private static final int HEADER = 128;
    private static final int RECORD = 4 * Long.BYTES;
    private static final long MAGIC = ByteBuffer.wrap("TERRCALL".getBytes(StandardCharsets.US_ASCII))
            .order(ByteOrder.nativeOrder())
            .getLong();
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer buffer;
    private final int kinds;

    private Calls(ByteBuffer buffer, int kinds) {
        this.buffer = buffer.order(ByteOrder.nativeOrder());
        this.kinds = kinds;
        LONGS.setOpaque(buffer, 16, (long) ROOM);
        LONGS.setOpaque(buffer, 24, (long) kinds);
        // Release: who sees the magic sees the header that belongs to it.
        LONGS.setRelease(buffer, 0, MAGIC);
    }

    /** Calls of so many kinds, recorded in a new file; null where none is named, and nothing is recorded. */
    static Calls inFile(Path file, int kinds) throws UsageException {
        if (file == null) {
            return null;
        }
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Calls(channel.map(FileChannel.MapMode.READ_WRITE, 0, HEADER + (long) ROOM * RECORD), kinds);
        } catch (IOException e) {
            throw new UsageException("--calls " + file + " cannot be made (" + e.getClass().getSimpleName()
                    + "): specify a new file in a directory that exists and is writable");
        }
    }

    /** The kind of a step, counted from 0, in calls of a kind. */
    int step(int kind, int number) {
        return (1 + number) * kinds + kind;
    }

    /** Records a call, or a step, that has just ended. Any thread; without room it is forgotten. */
    void add(int kind, long begin, long end, long cpu) {
        long record = (long) LONGS.getAndAdd(buffer, 8, 1L);
        if (record >= ROOM) {
            return;
        }
        int at = HEADER + (int) record * RECORD;
        LONGS.setOpaque(buffer, at + 8, begin);
        LONGS.setOpaque(buffer, at + 16, end);
        LONGS.setOpaque(buffer, at + 24, cpu);
        // Release: who sees the kind sees the record.
        LONGS.setRelease(buffer, at, kind + 1L);
    }
}
