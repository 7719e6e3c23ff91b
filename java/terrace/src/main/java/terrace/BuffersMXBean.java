package terrace;

import java.util.List;

/**
 * The buffers of a JVM as its management shows them: {@code terrace:type=Buffers}.
 *
 * <p>Notifications of the types {@code terrace.state} and {@code terrace.sizes} tell that the state changed (a refusal, a withdrawal), or the size of buffers. Their message has the reason.
 */
public interface BuffersMXBean {
    /** {@return the state, as {@link Status#state} names it} */
    String getState();

    /** {@return why nothing is installed, or what was adjusted; empty if there is nothing to say} */
    String getMessage();

    /** {@return the settings in force as JSON; empty if there are none} */
    String getSettings();

    /** {@return whether requests go through buffers} */
    boolean isOn();

    /** {@return pauses of the collector since the installation} */
    long getPauses();

    /** {@return the levels with their counters, that of the threads first} */
    List<LevelCounters> getLevels();

    /**
     * Switches the buffers on again.
     *
     * @return whether they are on: not if there are none
     */
    boolean on();

    /**
     * Switches the buffers off.
     *
     * @return whether there are buffers to switch
     */
    boolean off();
}
