package terrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
    void theMountThatAFileLiesInTellsWhetherItMayBeExecuted() {
        String mounts = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                + "23 22 0:30 / /home rw,nosuid,noexec shared:2 - tmpfs tmpfs rw\n"
                + "24 23 0:31 / /home/a\\040b rw shared:3 - tmpfs tmpfs rw,noexec\n"
                + "25 22 0:32 / /opt rw,noexec shared:4 - tmpfs tmpfs rw\n"
                + "26 25 0:33 / /opt rw shared:5 - tmpfs tmpfs rw\n"
                + "27 22 0:34 / /caf\u00c3\u00a9 rw,noexec - tmpfs tmpfs rw\n";
        assertTrue(Library.isExecutable("/tmp/x.so", mounts));
        assertFalse(Library.isExecutable("/home/x.so", mounts));
        assertTrue(Library.isExecutable("/homer/x.so", mounts));
        assertTrue(Library.isExecutable("/home/a b/x.so", mounts), "the file system's own options are its super block's");
        assertTrue(Library.isExecutable("/opt/x.so", mounts), "the last one counts");
        assertFalse(Library.isExecutable("/caf\u00e9/x.so", mounts));
        assertTrue(Library.isExecutable("/x.so", ""));
    }

    @Test
    void whatIsAttachedCanBeLookedAt() {
        assertEquals("control=auto,unseen=refuse", Attach.withControl(""));
        assertEquals("control=auto,unseen=refuse,core=64k", Attach.withControl("core=64k"));
        assertEquals("unseen=refuse,core=64k,control=auto", Attach.withControl("core=64k,control=auto"));
        assertEquals("core=64k,control=/x", Attach.withControl("core=64k,control=/x"));
    }
}
