package terrace.applications.lucene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;
import terrace.workloads.CheckException;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/**
 * Lucene: threads that search, beside four that index at a steady pace. What they index replaces what is there, so that the index keeps
 * its size and a search its work.
 */
public final class Lucene implements Workload {
    private static final int DOCUMENTS = 10_000;
    private static final int WORDS = 5_000;
    private static final int WORDS_IN_DOCUMENT = 60;
    private static final int HITS = 10;
    private static final int INDEXERS = 4;

    @Override
    public String name() {
        return "lucene";
    }

    @Override
    public String summary() {
        return "Lucene in memory: --threads workers search, beside " + INDEXERS + " that index " + Indexer.EACH_SECOND
                + " documents per second each";
    }

    @Override
    public int defaultThreads() {
        return 16;
    }

    @Override
    public double defaultWarmup() {
        return 10;
    }

    /** Indexers and merges allocate on threads of their own. */
    @Override
    public boolean allocatesInWorkers() {
        return false;
    }

    @Override
    public Prepared prepare(Parameters parameters) throws IOException {
        IndexWriter writer = new IndexWriter(new ByteBuffersDirectory(), new IndexWriterConfig(new StandardAnalyzer()));
        for (int number = 0; number < DOCUMENTS; number++) {
            writer.addDocument(document(number));
        }
        SearcherManager searchers = new SearcherManager(writer, null);
        List<Indexer> indexers = new ArrayList<>();
        for (int i = 0; i < INDEXERS; i++) {
            Indexer indexer = new Indexer(writer, searchers, i);
            indexers.add(indexer);
            indexer.start();
        }
        return new Prepared() {
            @Override
            public String operation() {
                return "search";
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new Searcher(searchers, tally);
            }

            @Override
            public Map<String, Object> findings() throws Exception {
                long indexed = 0;
                for (Indexer indexer : indexers) {
                    indexed += indexer.finish();
                }
                // What is replaced counts twice until then.
                writer.commit();
                int documents = writer.getDocStats().numDocs;
                searchers.close();
                writer.close();
                if (documents != DOCUMENTS) {
                    throw new CheckException("the index has " + documents + " documents, not " + DOCUMENTS);
                }
                return Map.of("indexed_documents", indexed);
            }
        };
    }

    /** A word; those with small numbers are frequent. */
    private static String word(ThreadLocalRandom random) {
        double place = random.nextDouble();
        return "word" + (int) (place * place * place * WORDS);
    }

    private static Document document(int number) {
        StringBuilder text = new StringBuilder();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = 0; i < WORDS_IN_DOCUMENT; i++) {
            text.append(word(random)).append(' ');
        }
        Document document = new Document();
        document.add(new StringField("number", Integer.toString(number), Field.Store.YES));
        document.add(new TextField("text", text.toString(), Field.Store.YES));
        return document;
    }

    /** Searches for documents with one of two words, reads the best, and looks whether they have one. */
    private record Searcher(SearcherManager searchers, Tally tally) implements Worker {
        @Override
        public void batch() throws IOException, CheckException {
            String one = word(ThreadLocalRandom.current());
            String other = word(ThreadLocalRandom.current());
            Query query = new BooleanQuery.Builder()
                    .add(new TermQuery(new Term("text", one)), BooleanClause.Occur.SHOULD)
                    .add(new TermQuery(new Term("text", other)), BooleanClause.Occur.SHOULD)
                    .build();
            IndexSearcher searcher = searchers.acquire();
            try {
                ScoreDoc[] hits = searcher.search(query, HITS).scoreDocs;
                // The rarest word is in 40 documents on average.
                if (hits.length < HITS) {
                    throw new CheckException(
                            "a search for " + one + " or " + other + " found " + hits.length + " documents, not " + HITS);
                }
                for (ScoreDoc hit : hits) {
                    String text = searcher.storedFields().document(hit.doc).get("text");
                    if (!text.contains(one + " ") && !text.contains(other + " ")) {
                        throw new CheckException("a search for " + one + " or " + other + " found '" + text + "'");
                    }
                }
            } finally {
                searchers.release(searcher);
            }
            tally.add(1);
        }
    }

    /** Replaces documents at a steady pace; every INDEXERS-th document is its own. */
    private static final class Indexer extends Thread {
        static final int EACH_SECOND = 50;
        private static final int BEFORE_REFRESH = 50;
        private static final long NANOS = 1_000_000_000L;

        private final IndexWriter writer;
        private final SearcherManager searchers;
        private final int first;
        private volatile boolean ended;
        private volatile long indexed;
        private volatile Throwable failure;

        Indexer(IndexWriter writer, SearcherManager searchers, int first) {
            super("terrace-indexer-" + first);
            this.writer = writer;
            this.searchers = searchers;
            this.first = first;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                long next = System.nanoTime();
                for (int number = first; !ended; number = (number + INDEXERS) % DOCUMENTS) {
                    writer.updateDocument(new Term("number", Integer.toString(number)), document(number));
                    indexed++;
                    if (indexed % BEFORE_REFRESH == 0) {
                        searchers.maybeRefresh();
                    }
                    next += NANOS / EACH_SECOND;
                    long wait = next - System.nanoTime();
                    if (wait > 0) {
                        Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
                    }
                }
            } catch (Throwable e) {
                // Whatever it is: without its documents the searches are not those that are compared.
                failure = e;
            }
        }

        /** Ends it; its documents, if all went well. */
        long finish() throws Exception {
            ended = true;
            join();
            if (failure != null) {
                throw new IllegalStateException("indexing failed: " + failure, failure);
            }
            return indexed;
        }
    }
}
