package terrace.workloads;

import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** What the first compile of each part gave. Every later one, on whichever thread, must give the same bytes. */
final class Baseline {
    private final AtomicReferenceArray<SortedMap<String, Long>> parts;
    private final AtomicInteger partsSeen = new AtomicInteger();
    private final AtomicInteger classesSeen = new AtomicInteger();
    private final int classes;

    /** A baseline for so many parts, which together must give so many classes. */
    Baseline(int parts, int classes) {
        this.parts = new AtomicReferenceArray<>(parts);
        this.classes = classes;
    }

    /** Compares the checksums of a part's classes, by name, with those of the part's first compile. */
    void check(int part, SortedMap<String, Long> checksums) throws CheckException {
        SortedMap<String, Long> first = parts.get(part);
        if (first == null) {
            first = parts.compareAndExchange(part, null, checksums);
            if (first == null) {
                addFirst(checksums.size());
                return;
            }
        }
        if (checksums.size() != first.size()) {
            throw new CheckException("a compile gave " + checksums.size() + " class files, the first one of the same "
                    + "sources " + first.size());
        }
        for (String name : first.keySet()) {
            if (!first.get(name).equals(checksums.get(name))) {
                throw new CheckException("a compile gave other bytes for class " + name + " than the first one");
            }
        }
    }

    /** The count is added before the part, so that whoever sees the last part sees all counts. */
    private void addFirst(int count) throws CheckException {
        classesSeen.addAndGet(count);
        if (partsSeen.incrementAndGet() == parts.length() && classesSeen.get() != classes) {
            throw new CheckException("a round gave " + classesSeen.get() + " class files, one compile of everything " + classes);
        }
    }
}
