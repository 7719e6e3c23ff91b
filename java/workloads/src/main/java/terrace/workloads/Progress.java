package terrace.workloads;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * What every worker has done so far, in memory that another process can map.
 *
 * <p>Native byte order. Header: the eight bytes {@code TERRPROG}, then 64-bit words: phase, number of slots, stride, one that is
 * not 0 when the other process asks for the measured window to close, the number of the stretch of time that it has begun,
 * 0 outside of any, and three that are not 0 when it asks for the measured window to open, for the work to stop, and for the
 * work to begin.
 * Slot {@code i} is the 64-bit word at {@code stride * (1 + i)}: the operations of worker {@code i} since the start.
 */
final class Progress {
    /** Where a run stands; the number in the file is the ordinal. */
    enum Phase {
        /** Workers are being prepared. */
        STARTING,
        /** Workers wait for whoever watches to ask for the work to begin. Left out where nobody is to ask. */
        READY,
        /** Workers work, nothing is measured. */
        WARMING_UP,
        /** The measured window is open. */
        MEASURING,
        /** The measured window is closed. */
        FINISHED
    }

    /** Distance of slots in bytes: two cache lines, because the hardware also prefetches the neighbour of a line. */
    static final int STRIDE = 128;

    private static final byte[] MAGIC = "TERRPROG".getBytes(StandardCharsets.US_ASCII);
    private static final int PHASE = 8;
    private static final int SLOTS = 16;
    private static final int STRIDE_FIELD = 24;
    private static final int END_ASKED = 32;
    private static final int STRETCH = 40;
    private static final int BEGIN_ASKED = 48;
    private static final int STOP_ASKED = 56;
    private static final int WORK_ASKED = 64;
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer buffer;
    private final int slots;

    private Progress(ByteBuffer buffer, int slots) {
        this.buffer = buffer.order(ByteOrder.nativeOrder());
        this.slots = slots;
        for (int offset = MAGIC.length; offset < length(slots); offset += Long.BYTES) {
            LONGS.setOpaque(buffer, offset, 0L);
        }
        LONGS.setOpaque(buffer, SLOTS, (long) slots);
        LONGS.setOpaque(buffer, STRIDE_FIELD, (long) STRIDE);
        // Release: who sees the magic sees the header that belongs to it.
        LONGS.setRelease(buffer, 0, ByteBuffer.wrap(MAGIC).order(ByteOrder.nativeOrder()).getLong());
    }

    /** Progress that only this process sees. */
    static Progress inMemory(int slots) {
        return new Progress(ByteBuffer.allocateDirect(length(slots) + STRIDE).alignedSlice(STRIDE), slots);
    }

    /**
     * Progress in a file. A new file is created; an existing one, which its creator may have mapped already, is
     * extended but never cut short. A file that holds anything else is left alone.
     */
    static Progress inFile(Path file, int slots) throws UsageException {
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (!Files.isRegularFile(file) || !isOurs(channel)) {
                throw new UsageException("--progress " + file + " exists and is not a progress file: specify a new file");
            }
            return new Progress(channel.map(FileChannel.MapMode.READ_WRITE, 0, length(slots)), slots);
        } catch (IOException e) {
            throw new UsageException("--progress " + file + " cannot be written (" + e.getClass().getSimpleName()
                    + "): specify a file in a directory that exists and is writable");
        }
    }

    /** Tells the reader where the run stands, after everything that was written before. */
    void phase(Phase phase) {
        LONGS.setRelease(buffer, PHASE, (long) phase.ordinal());
    }

    /** Whether the measured window is open. */
    boolean isMeasuring() {
        return (long) LONGS.getOpaque(buffer, PHASE) == Phase.MEASURING.ordinal();
    }

    /** Whether the other process has asked for the work to begin. */
    boolean workAsked() {
        return (long) LONGS.getOpaque(buffer, WORK_ASKED) != 0;
    }

    /** Whether the other process has asked for the measured window to open. */
    boolean beginAsked() {
        return (long) LONGS.getOpaque(buffer, BEGIN_ASKED) != 0;
    }

    /** Whether the other process has asked for the work to stop. */
    boolean stopAsked() {
        return (long) LONGS.getOpaque(buffer, STOP_ASKED) != 0;
    }

    /** Whether the other process has asked for the end of the measured window. */
    boolean endAsked() {
        return (long) LONGS.getOpaque(buffer, END_ASKED) != 0;
    }

    /** The stretch of time that the other process has begun; 0 outside of any. */
    long stretch() {
        return (long) LONGS.getOpaque(buffer, STRETCH);
    }

    /** The operations in one slot. */
    long read(int slot) {
        return (long) LONGS.getOpaque(buffer, STRIDE * (1 + slot));
    }

    /** Replaces the operations in one slot. Opaque: a whole word, soon visible; it publishes nothing else. */
    void write(int slot, long operations) {
        LONGS.setOpaque(buffer, STRIDE * (1 + slot), operations);
    }

    /** The operations of all workers. */
    long sum() {
        long sum = 0;
        for (int slot = 0; slot < slots; slot++) {
            sum += read(slot);
        }
        return sum;
    }

    private static int length(int slots) {
        return STRIDE * (1 + slots);
    }

    /** An empty file, one that starts with zeros (made by the caller in advance), or one of an earlier run. */
    private static boolean isOurs(FileChannel channel) throws IOException {
        ByteBuffer start = ByteBuffer.allocate(MAGIC.length);
        while (start.hasRemaining() && channel.read(start, start.position()) > 0) {
            // Read on until the magic is complete or the file ends.
        }
        byte[] bytes = Arrays.copyOf(start.array(), start.position());
        return Arrays.equals(bytes, MAGIC) || Arrays.equals(bytes, new byte[bytes.length]);
    }
}
