package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SizesTest {
    @TempDir
    Path directory;

    @Test
    void listsAreTakenInTurn() throws Exception {
        assertArrayEquals(new int[] {100_000, 64, 64, 64, 2048}, Lengths.list("100000,64x3,2k").sequence());
    }

    @Test
    void mixturesAreLogUniformAndTheSameEveryTime() throws Exception {
        int[] sequence = Lengths.mixture("16..200k").sequence();
        assertArrayEquals(sequence, Lengths.mixture("16..200k").sequence());
        assertTrue(Arrays.stream(sequence).allMatch(length -> length >= 16 && length <= 200 << 10));
        // The geometric middle of 16 and 204,800 is 1810: half of the lengths lie below it, of 4096 within 4 percent.
        long below = Arrays.stream(sequence).filter(length -> length < 1810).count();
        assertEquals(0.5, (double) below / sequence.length, 0.04);
        assertArrayEquals(new int[] {10, 17, 613}, firstThree(), "the same on every JVM");
    }

    private static int[] firstThree() throws Exception {
        return Arrays.copyOf(Lengths.mixture("8..4000").sequence(), 3);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 9, 64, 65, 1000, 100_000})
    void theRuleForObjectsGivesWhatTheJvmCounts(int length) throws Exception {
        assertEquals(AllocWorker.measureObjectBytes(length), ObjectBytes.measured().of(length));
    }

    @Test
    void batchesKeepTheSequence() {
        ObjectBytes objects = new ObjectBytes(16, 8);
        int[][] batches = SizesWorker.batches(new int[] {100_000, 64, 64}, objects);
        int[] all = Arrays.stream(batches).flatMapToInt(Arrays::stream).toArray();
        assertEquals(6, all.length, "twice 100,176 bytes fit");
        for (int i = 0; i < all.length; i++) {
            assertEquals(i % 3 == 0 ? 100_000 : 64, all[i]);
        }
        assertEquals(4096, SizesWorker.batches(new int[] {1}, objects)[0].length);
        assertEquals(3, SizesWorker.batches(new int[] {300_000, 300_000, 300_000}, objects).length);
    }

    @ParameterizedTest
    @ValueSource(strings = {"100000,64x20", "0", "300000,16x5000"})
    void whatIsCountedIsAllocatedToTheByte(String sizes) throws Exception {
        Tally tally = new Tally(Progress.inMemory(1), 0);
        SizesWorker worker = new SizesWorker(Lengths.list(sizes), 0, tally, new CollectionMarks(() -> null));
        worker.begin();
        for (int i = 0; i < 300; i++) {
            worker.batch();
        }
        assertDoesNotThrow(worker::end);
        tally.add(tally.total() / 10 + 1_000_000);
        assertThrows(CheckException.class, worker::end);
    }

    @Test
    void bytesForACollectionLieBetweenMarks() {
        CollectionMarks marks = new CollectionMarks(() -> null);
        assertNull(marks.bytesPerCollection());
        marks.note(3, 100);
        marks.note(4, 1_000);
        marks.note(5, 2_000);
        assertNull(marks.bytesPerCollection(), "one mark: the two before it are left out");
        marks.note(5, 2_100);
        marks.note(7, 4_000);
        marks.note(6, 3_000);
        assertEquals(1_000.0, marks.bytesPerCollection());
        assertEquals(2, marks.collections());
        assertNull(marks.heapUsedPerByte());
    }

    @Test
    void heapIsUsedUpBetweenCollectionsThatFollowEachOther() {
        long[] heap = {0, 0};
        CollectionMarks marks = new CollectionMarks(() -> new HeapAtCollection(heap[0], heap[1]));
        long[][] collections = {{3, 100, 9_000, 10}, {5, 1_000, 9_000, 20}, {6, 2_000, 1_070, 50}, {6, 2_100, 1, 1}};
        for (long[] collection : collections) {
            heap[0] = collection[2];
            heap[1] = collection[3];
            marks.note(collection[0], collection[1]);
        }
        assertEquals(1.05, marks.heapUsedPerByte());
        heap[0] = 9_000;
        marks.note(8, 3_000);
        assertEquals(1.05, marks.heapUsedPerByte(), "one was not noticed");
    }

    @Test
    void collectionsAreNoticed() throws Exception {
        CollectionMarks marks = new CollectionMarks(HeapAtCollection::last);
        Tally tally = new Tally(Progress.inMemory(1), 0);
        SizesWorker worker = new SizesWorker(Lengths.one(1024), 0, tally, marks);
        worker.begin();
        while (marks.heapUsedPerByte() == null) {
            for (int i = 0; i < 128; i++) {
                worker.batch();
            }
            System.gc();
        }
        assertTrue(marks.bytesPerCollection() > 0);
        assertTrue(marks.heapUsedPerByte() > 0, () -> "32 MB take " + marks.heapUsedPerByte() + " of that");
    }

    @Test
    void callsAreRecordedForAnotherProcess() throws Exception {
        Path file = directory.resolve("calls");
        Calls calls = Calls.inFile(file, 6);
        calls.add(4, 100, 900, 55);
        calls.add(calls.step(5, 1), 200, 950, 66);
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
        assertEquals("TERRCALL", new String(bytes.array(), 0, 8, java.nio.charset.StandardCharsets.US_ASCII));
        assertEquals(2, bytes.getLong(8));
        assertEquals(Calls.ROOM, bytes.getLong(16));
        assertEquals(6, bytes.getLong(24));
        for (int i = 0; i < 4; i++) {
            assertEquals(new long[] {5, 100, 900, 55}[i], bytes.getLong(128 + 8 * i));
            assertEquals(new long[] {18, 200, 950, 66}[i], bytes.getLong(160 + 8 * i));
        }
        assertThrows(UsageException.class, () -> Calls.inFile(file, 6), "it exists");
        assertNull(Calls.inFile(null, 6));
    }
}
