package terrace.workloads;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;

/** Divides sources so that each part is about the same work for the compiler. */
final class Parts {
    private Parts() {}

    /**
     * Deals the sources out: the heaviest first, each to the part that is lightest so far. A source weighs what its
     * class files do.
     *
     * @param classes what a compile of all the sources gave
     * @param wanted number of parts, if there are that many sources
     */
    static List<List<SourceFile>> deal(List<SourceFile> sources, List<ClassFile> classes, int wanted) {
        Map<FileObject, Integer> weights = new HashMap<>();
        for (ClassFile file : classes) {
            weights.merge(file.origin(), file.length(), Integer::sum);
        }
        List<SourceFile> heaviestFirst = new ArrayList<>(sources);
        heaviestFirst.sort(Comparator.comparing((SourceFile source) -> -weights.getOrDefault(source, 0)));
        List<List<SourceFile>> parts = new ArrayList<>();
        long[] load = new long[Math.min(wanted, sources.size())];
        for (int i = 0; i < load.length; i++) {
            parts.add(new ArrayList<>());
        }
        for (SourceFile source : heaviestFirst) {
            int lightest = 0;
            for (int i = 1; i < load.length; i++) {
                lightest = load[i] < load[lightest] ? i : lightest;
            }
            // One more, so that sources without classes are spread too.
            load[lightest] += weights.getOrDefault(source, 0) + 1;
            parts.get(lightest).add(source);
        }
        return parts;
    }
}
