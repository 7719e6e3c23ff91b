package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChainTest {
    @ParameterizedTest
    @CsvSource({"1,0", "1,7", "2,0", "3,0", "42,1000000", "170,-5", "170,9223372036854775800", "1700000,3"})
    void theWalkGivesTheExpectedChecksum(int links, long seed) {
        assertEquals(Chain.expectedChecksum(links, seed), Chain.checksum(Chain.make(links, seed)));
    }

    @ParameterizedTest
    @CsvSource({"41,1000", "42,1001"})
    void aMissingLinkAndAWrongValueAreNoticed(int links, long seed) {
        long found = Chain.checksum(Chain.make(links, seed));
        assertThrows(CheckException.class, () -> Chain.check(found, 42, 1000));
        assertDoesNotThrow(() -> Chain.check(found, links, seed));
    }

    @ParameterizedTest
    @CsvSource({"4096,170", "1024,42", "24,1", "1,1"})
    void bytesAreCountedInLinks(int bytes, int links) {
        assertEquals(links, Chain.links(bytes));
    }
}
