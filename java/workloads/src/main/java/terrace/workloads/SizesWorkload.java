package terrace.workloads;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;

/** Threads that allocate arrays of given sizes: what buffers waste depends on them. */
final class SizesWorkload implements Workload {
    @Override
    public String name() {
        return "sizes";
    }

    @Override
    public String summary() {
        return "each thread allocates byte arrays of one size, of a list of sizes, repeated, or of a mixture";
    }

    @Override
    public int defaultThreads() {
        return Runtime.getRuntime().availableProcessors();
    }

    @Override
    public OptionalInt defaultSize() {
        return OptionalInt.of(1024);
    }

    @Override
    public String sizeMeaning() {
        return "length of each array; or --sizes LIST, or --mixture RANGE";
    }

    @Override
    public boolean takesLengths() {
        return true;
    }

    @Override
    public boolean countsBytes() {
        return true;
    }

    @Override
    public Prepared prepare(Parameters parameters) {
        Lengths lengths = parameters.lengths() == null ? Lengths.one(parameters.size()) : parameters.lengths();
        CollectionMarks marks = new CollectionMarks(HeapAtCollection::last);
        return new Prepared() {
            @Override
            public String operation() {
                return "byte of arrays allocated";
            }

            @Override
            public Map<String, Object> facts() {
                return Map.of("sizes", lengths.description());
            }

            @Override
            public Map<String, Object> findings() {
                Map<String, Object> findings = new LinkedHashMap<>();
                findings.put("marked_collections", marks.collections());
                findings.put("bytes_per_collection", marks.bytesPerCollection());
                findings.put("heap_used_per_byte", marks.heapUsedPerByte());
                return findings;
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new SizesWorker(lengths, index, tally, marks);
            }
        };
    }
}
