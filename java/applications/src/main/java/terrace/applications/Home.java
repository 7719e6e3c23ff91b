package terrace.applications;

import java.net.URISyntaxException;
import java.nio.file.Path;
import terrace.workloads.UsageException;

/** The folder of the programs' jars, and of what they need besides. */
final class Home {
    private Home() {}

    static Path folder() throws UsageException {
        try {
            return Path.of(Home.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getParent();
        } catch (URISyntaxException e) {
            throw new UsageException("the directory of terrace-applications.jar has no usable name: move it");
        }
    }
}
