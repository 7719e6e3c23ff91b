package terrace;

/** What is installed at this moment, or why nothing is. */
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

    /** {@return whether buffers are installed, or requests are counted without any ({@code levels=none})} */
    public boolean isActive() {
        return state.equals("installed") || state.equals("observing");
    }

    /** {@return whether requests go through buffers} */
    public boolean isOn() {
        return on && state.equals("installed");
    }

    /** {@return why nothing is installed, or what was adjusted; empty if there is nothing to say} */
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
