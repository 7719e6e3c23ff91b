package terrace.jmh;

/** A secondary result. */
enum Figure {
    /** What threads came for beyond their own buffers: refills of TLABs, and objects outside of any TLAB. */
    REFILLS("refills", "#/Mop"),
    /** How often the heap that all threads share was asked for memory. */
    HEAP("heap", "#/Mop"),
    /** Bytes handed out, with what threads leave unused in their TLABs. */
    BYTES("bytes.norm", "B/op"),
    /** Bytes that the buffers gave up. */
    WASTE("waste.norm", "B/op"),
    /** Pauses of the collector. */
    PAUSES("pauses", "#/Mop"),
    /** How long HotSpot took for refills, if the agent times them. */
    REFILL_TIME("refill.time", "ns/op");

    private final String label;
    private final String unit;

    Figure(String label, String unit) {
        this.label = label;
        this.unit = unit;
    }

    String label() {
        return label;
    }

    /** {@code Mop}: a million operations, because few of them need a refill. */
    String unit() {
        return unit;
    }
}
