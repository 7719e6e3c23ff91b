import terrace.Terrace;

/** A library of the program's counts, and the program itself wants buffers: each closes what is its own. */
public final class Beside {
    public static void main(String[] args) {
        Terrace library = Terrace.start("levels=none");
        require(library.status().state().equals("observing"), library);
        // Buffers replace an observer.
        Terrace program = Terrace.start("core=64k");
        require(program.status().isOn(), program);
        library.close();
        require(program.status().isOn(), program);
        // An operator has them removed, and others installed.
        Terrace.current().withdraw();
        while (program.isActive()) {
            System.gc();
        }
        Terrace operator = Terrace.start("core=32k");
        require(operator.status().isOn(), operator);
        program.close();
        require(operator.status().isOn(), operator);
        operator.close();
        require(!operator.status().isOn(), operator);
        System.out.println("done");
    }

    private static void require(boolean holds, Terrace terrace) {
        if (!holds) {
            throw new AssertionError(terrace.toString());
        }
    }
}
