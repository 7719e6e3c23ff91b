package terrace;

/** What is currently installed, or why nothing is installed. */
public final class Status {
    private final String state;
    private final boolean on;
    private final String message;
    private final String settings;

    Status(String state, boolean on, String message, String settings) {
        this.state = state;
        this.on = on;
        this.message = message;
        this.settings = settings;
    }

    /**
     * {@return the state, as {@code terrace status} names it: {@code installed}, {@code observing}, {@code refused}, {@code withdrawn}, {@code starting},
     * {@code ended}; or {@code absent}, if there is no library or nothing was asked of it}
     */
    public String state() {
        return state;
    }

    /** {@return whether buffers are installed, or requests are counted without buffers ({@code levels=none})} */
    public boolean isActive() {
        return state.equals("installed") || state.equals("observing");
    }

    /** {@return whether requests go through buffers} */
    public boolean isOn() {
        return on && state.equals("installed");
    }

    /** {@return why nothing is installed, or what was adjusted; empty if there is no message} */
    public String message() {
        return message;
    }

    /** {@return the settings in force as JSON, as in the report; empty if there are none} */
    public String settings() {
        return settings;
    }

    @Override
    public String toString() {
        return state + (state.equals("installed") ? (isOn() ? ", on" : ", off") : "") + (message.isEmpty() ? "" : ": " + message);
    }
}
