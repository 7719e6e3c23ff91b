package terrace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LibraryTest {
    @Test
    void platformsAreNamedAsInTheJar() {
        assertEquals("linux-x64", Library.platform("Linux", "amd64"));
        assertEquals("linux-arm64", Library.platform("Linux", "aarch64"));
        assertEquals("linux-riscv64", Library.platform("Linux", "riscv64"));
        assertEquals("mac-os-x-x64", Library.platform("Mac OS X", "x86_64"));
    }

    @Test
    void strictIsReadAsTheLibraryReadsIt() {
        assertEquals(List.of(true, true, false, false, false, false), Stream.of("strict=true", "core=64k,strict=on", "strict=false", "strict", "", null).map(Agent::isStrict).toList());
    }

    @Test
    void whatIsAttachedCanBeLookedAt() {
        assertEquals("control=auto", Attach.withControl(""));
        assertEquals("core=64k,control=auto", Attach.withControl("core=64k"));
        assertEquals("core=64k,control=/x", Attach.withControl("core=64k,control=/x"));
    }
}
