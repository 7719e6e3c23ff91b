package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgressTest {
    @TempDir
    Path directory;

    private static ByteBuffer bytes(Path file) throws Exception {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
    }

    @Test
    void theFileHasTheAgreedLayout() throws Exception {
        Path file = directory.resolve("progress");
        Progress progress = Progress.inFile(file, 3);
        progress.phase(Progress.Phase.MEASURING);
        new Tally(progress, 0).add(5);
        Tally last = new Tally(progress, 2);
        last.add(7);
        last.add(70);
        ByteBuffer bytes = bytes(file);
        assertEquals(4 * 128, bytes.capacity());
        byte[] magic = new byte[8];
        bytes.get(magic);
        assertArrayEquals("TERRPROG".getBytes("US-ASCII"), magic);
        assertEquals(3, bytes.getLong(8));
        assertEquals(3, bytes.getLong(16));
        assertEquals(128, bytes.getLong(24));
        assertEquals(5, bytes.getLong(128));
        assertEquals(0, bytes.getLong(256));
        assertEquals(77, bytes.getLong(384));
        assertEquals(82, progress.sum());
        assertEquals(77, last.total());
    }

    @Test
    void aFileMadeByTheCallerKeepsItsLength() throws Exception {
        Path file = Files.write(directory.resolve("progress"), new byte[8192]);
        Progress.inFile(file, 1).phase(Progress.Phase.WARMING_UP);
        assertEquals(8192, Files.size(file));
        assertEquals(2, bytes(file).getLong(8));
    }

    @Test
    void theWatchersStretchIsRead() throws Exception {
        Path file = directory.resolve("progress");
        Tally tally = new Tally(Progress.inFile(file, 1), 0);
        assertEquals(0, tally.stretch());
        ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(0, 7);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(number, 40);
        }
        assertEquals(7, tally.stretch());
    }

    @Test
    void anEarlierRunsFileIsUsedAgainFromZero() throws Exception {
        Path file = directory.resolve("progress");
        new Tally(Progress.inFile(file, 2), 1).add(9);
        assertEquals(0, Progress.inFile(file, 2).sum());
    }

    @Test
    void otherFilesAreLeftAlone() throws Exception {
        Path file = Files.writeString(directory.resolve("letter"), "Dear reader");
        UsageException e = assertThrows(UsageException.class, () -> Progress.inFile(file, 1));
        assertTrue(e.getMessage().contains("specify a new file"), e.getMessage());
        assertEquals("Dear reader", Files.readString(file));
    }

    @Test
    void aMissingDirectoryIsTold() {
        Path file = directory.resolve("no/such/progress");
        UsageException e = assertThrows(UsageException.class, () -> Progress.inFile(file, 1));
        assertTrue(e.getMessage().contains("directory that exists"), e.getMessage());
    }
}
