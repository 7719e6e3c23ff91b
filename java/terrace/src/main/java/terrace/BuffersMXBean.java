package terrace;

import java.util.List;

/**
 * The management interface of a JVM's allocation buffers: {@code terrace:type=Buffers}.
 *
 * <p>Notifications of the types {@code terrace.state} and {@code terrace.sizes} report that the state (by a refusal or a withdrawal) or the size of buffers changed. Their message has the reason.
 */
public interface BuffersMXBean {
    /** {@return the state, as {@link Status#state} names it} */
    String getState();

    /** {@return why nothing is installed, or what was adjusted; empty if there is no message} */
    String getMessage();

    /** {@return the settings in force as JSON; empty if there are none} */
    String getSettings();

    /** {@return whether requests go through buffers} */
    boolean isOn();

    /** {@return pauses of the collector since the installation} */
    long getPauses();

    /** {@return the levels with their counters, starting with the one closest to the threads} */
    List<LevelCounters> getLevels();

    /**
     * Switches the buffers on again.
     *
     * @return whether the buffers are on; {@code false} if there are none
     */
    boolean on();

    /**
     * Switches the buffers off.
     *
     * @return whether there are buffers to switch
     */
    boolean off();
}
