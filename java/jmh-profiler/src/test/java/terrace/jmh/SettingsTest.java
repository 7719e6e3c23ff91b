package terrace.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jmh.profile.ProfilerException;

class SettingsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "''                           | control=auto",
        "compare=true                 | control=auto",
        "options=core=64k,tlab=4k     | control=auto,core=64k,tlab=4k",
        "options=control=/run/c,log=info | control=/run/c,log=info",
    })
    void countersCanAlwaysBeRead(String parameters, String options) throws Exception {
        assertEquals(options, Settings.of(parameters).agentOptions());
    }

    @Test
    void parametersStandInAnyOrder() throws Exception {
        Settings settings = Settings.of(" compare=true; library=/a/b.so ;options=start=off;");
        assertTrue(settings.compare());
        assertEquals("/a/b.so", settings.library());
        assertEquals("control=auto,start=off", settings.agentOptions());
    }

    @ParameterizedTest
    @ValueSource(strings = {"compare", "compare=yes", "libary=/x", "true", "compare=true;options=levels=none"})
    void whatIsMistypedIsOneLine(String parameters) {
        String line = assertThrows(ProfilerException.class, () -> Settings.of(parameters)).getMessage();
        assertTrue(line.startsWith("terrace: ") && line.lines().count() == 1, line);
    }
}
