package terrace;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.management.ConstructorParameters;

/** The counters of one level, for {@link BuffersMXBean}. */
public final class LevelCounters {
    private final String name;
    private final long bufferBytes;
    private final long remainingBytes;
    private final Map<String, Long> total;
    private final List<Map<String, Long>> domains;

    /**
     * Reconstructs the counters on the client side of a JMX connection.
     *
     * @param name of the level
     * @param bufferBytes bytes of a buffer
     * @param remainingBytes bytes that all buffers hold
     * @param total the counters' sums over all domains
     * @param domains the counters of each domain
     */
    @ConstructorParameters({"name", "bufferBytes", "remainingBytes", "total", "domains"})
    public LevelCounters(String name, long bufferBytes, long remainingBytes, Map<String, Long> total, List<Map<String, Long>> domains) {
        this.name = name;
        this.bufferBytes = bufferBytes;
        this.remainingBytes = remainingBytes;
        this.total = Collections.unmodifiableMap(new LinkedHashMap<>(total));
        this.domains = Collections.unmodifiableList(new ArrayList<>(domains));
    }

    static LevelCounters of(Counters counters, Counters.Level level) {
        Map<String, Long> total = new LinkedHashMap<>();
        counters.names().forEach(name -> total.put(name, level.total(name)));
        List<Map<String, Long>> domains = new ArrayList<>();
        for (int domain = 0; domain < level.domains(); domain++) {
            Map<String, Long> one = new LinkedHashMap<>();
            for (String name : counters.names()) {
                one.put(name, level.get(domain, name));
            }
            domains.add(one);
        }
        return new LevelCounters(level.name(), level.bufferBytes(), level.remainingBytes(), total, domains);
    }

    /** {@return the level's name, as {@link Counters.Level#name} has it} */
    public String getName() {
        return name;
    }

    /** {@return the current size of a buffer in bytes} */
    public long getBufferBytes() {
        return bufferBytes;
    }

    /** {@return the bytes that all buffers of the level currently hold} */
    public long getRemainingBytes() {
        return remainingBytes;
    }

    /** {@return the counters' sums over all domains: bytes where the name ends with {@code _bytes}, events otherwise} */
    public Map<String, Long> getTotal() {
        return total;
    }

    /** {@return the counters of each domain} */
    public List<Map<String, Long>> getDomains() {
        return domains;
    }
}
