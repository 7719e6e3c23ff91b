package terrace;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
    void whatIsAttachedCanBeLookedAt() {
        assertEquals("control=auto,unseen=refuse", Attach.withControl(""));
        assertEquals("control=auto,unseen=refuse,core=64k", Attach.withControl("core=64k"));
        assertEquals("unseen=refuse,core=64k,control=auto", Attach.withControl("core=64k,control=auto"));
        assertEquals("core=64k,control=/x", Attach.withControl("core=64k,control=/x"));
    }
}
