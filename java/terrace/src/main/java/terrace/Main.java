package terrace;

import java.io.IOException;
import java.nio.file.Path;

/** {@code java -jar terrace.jar}. */
final class Main {
    private static final String USAGE =
            "usage: java -jar terrace.jar attach PID [key=value,...]   install the buffers in a running JVM\n"
                    + "       java -jar terrace.jar library                     unpack libterrace.so and print its path, for -agentpath\n"
                    + "       java -jar terrace.jar --help | --version\n"
                    + "At a program's start: java -javaagent:terrace.jar[=key=value,...] -jar app.jar\n";

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) {
        String command = arguments.length == 0 ? "" : arguments[0];
        try {
            switch (command) {
                case "--help":
                case "-h":
                    System.out.print(USAGE);
                    return 0;
                case "--version":
                    System.out.println("terrace.jar " + Library.version());
                    return 0;
                case "library":
                    if (arguments.length == 1) {
                        System.out.println(Library.unpacked());
                        return 0;
                    }
                    break;
                case "attach":
                    if (arguments.length == 2 || arguments.length == 3) {
                        attach(arguments[1], arguments.length == 3 ? arguments[2] : "");
                        return 0;
                    }
                    break;
                default:
            }
        } catch (IOException refused) {
            System.err.println("terrace: " + refused.getMessage());
            return 1;
        } catch (RuntimeException unexpected) {
            System.err.println("terrace: " + unexpected);
            return 1;
        }
        System.err.print((arguments.length == 0 ? "" : "terrace: unknown command: " + String.join(" ", arguments) + "\n") + USAGE);
        return 2;
    }

    private static void attach(String pid, String options) throws IOException {
        if (!pid.matches("[1-9][0-9]{0,9}")) {
            throw new IOException(pid + " is not a process ID; 'jps' lists running JVMs");
        }
        if (ModuleLayer.boot().findModule("jdk.attach").isEmpty()) {
            throw new IOException("this Java runtime lacks the module jdk.attach: use a JDK, or 'jcmd " + pid + " JVMTI.agent_load' with the path that '"
                    + "java -jar terrace.jar library' prints");
        }
        Path library = Library.unpacked();
        Attach.to(pid, library, options);
        System.out.println("terrace is in process " + pid + ": 'terrace status " + pid + "' shows it");
    }
}
