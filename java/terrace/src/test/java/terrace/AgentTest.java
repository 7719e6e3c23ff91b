package terrace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AgentTest {
    /** Of Java 8, whose JVM refuses newer ones. */
    private static final int CLASS_FILE_OF_8 = 52;

    @Test
    void aJvmThatIsTooOldCanLoadIt() throws IOException {
        try (DataInputStream file = new DataInputStream(Agent.class.getResourceAsStream("Agent.class"))) {
            file.readInt();
            file.readUnsignedShort();
            assertEquals(CLASS_FILE_OF_8, file.readUnsignedShort());
        }
    }

    @Test
    void versionsBefore11AreTooOld() {
        assertEquals(List.of(true, true, true, false, false, false), Stream.of("1.8", "9", "10", "11", "28", "later").map(Agent::isTooOld).toList());
    }

    @Test
    void strictIsReadAsTheLibraryReadsIt() {
        assertEquals(List.of(true, true, false, false, false, false), Stream.of("strict=true", "core=64k,strict=on", "strict=false", "strict", "", null).map(Agent::isStrict).toList());
    }
}
