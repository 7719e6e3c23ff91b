package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AllocTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 16, 1000, 1 << 20})
    void anArrayTakesItsBytesAndAHeader(int size) throws Exception {
        long bytes = AllocWorker.measureObjectBytes(size);
        assertTrue(bytes >= size + 12 && bytes <= size + 32, "byte[" + size + "] takes " + bytes);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 16, 4096, 300_000})
    void whatIsCountedIsAllocated(int size) throws Exception {
        Tally tally = new Tally(Progress.inMemory(1), 0);
        AllocWorker worker = new AllocWorker(size, tally);
        worker.begin();
        for (int i = 0; i < 200; i++) {
            worker.batch();
        }
        assertDoesNotThrow(worker::end);
        assertTrue(tally.total() >= 200);
    }

    @Test
    void claimedButMissingAllocationsAreNoticed() throws Exception {
        Tally tally = new Tally(Progress.inMemory(1), 0);
        AllocWorker worker = new AllocWorker(16, tally);
        worker.begin();
        worker.batch();
        tally.add(1_000_000);
        CheckException e = assertThrows(CheckException.class, worker::end);
        assertTrue(e.getMessage().contains("should have allocated"), e.getMessage());
    }

    @Test
    void memoryThatIsNotZeroedIsNoticed() throws Exception {
        byte[] array = new byte[16];
        AllocWorker.inspect(array, 16);
        assertThrows(CheckException.class, () -> AllocWorker.inspect(array, 16), "soiled by the first inspection");
        assertThrows(CheckException.class, () -> AllocWorker.inspect(new byte[8], 16));
    }

    @Test
    void countsMayDifferByTwoPercent() {
        assertDoesNotThrow(() -> AllocWorker.checkAllocated(1_010_000_000L, 1_000_000_000L));
        assertThrows(CheckException.class, () -> AllocWorker.checkAllocated(1_030_000_000L, 1_000_000_000L));
        assertThrows(CheckException.class, () -> AllocWorker.checkAllocated(500_000_000L, 1_000_000_000L));
    }

    @Test
    void theOperationNamesTheSize() {
        Parameters parameters = new Parameters(1, 1, 1, 24, null, null);
        assertEquals("byte[24] allocated", new AllocWorkload().prepare(parameters).operation());
    }
}
