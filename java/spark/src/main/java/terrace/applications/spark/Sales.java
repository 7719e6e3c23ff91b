package terrace.applications.spark;

import java.util.Arrays;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import terrace.workloads.CheckException;

/** Generated tables, of which every answer is known: sales, each of a customer, and customers, each of a region. */
final class Sales {
    /** Kinds of questions there are. */
    static final int QUESTIONS = 32;

    private static final int SALES = 50_000;
    private static final int CUSTOMERS = 1_000;
    private static final int REGIONS = 10;
    private static final int PRICES = 997;
    private static final int DISTANCE = 31;

    private final SparkSession session;

    private Sales(SparkSession session) {
        this.session = session;
    }

    /** Makes the tables and keeps them in memory. */
    static Sales in(SparkSession session) {
        table(session, "sales", "SELECT id, id % " + CUSTOMERS + " AS customer, (id * " + DISTANCE + ") % " + PRICES
                + " AS price, concat('sale ', id) AS note FROM range(0, " + SALES + ", 1, 4)");
        table(session, "customers", "SELECT id AS customer, id % " + REGIONS + " AS region FROM range(0, " + CUSTOMERS + ", 1, 1)");
        return new Sales(session);
    }

    private static void table(SparkSession session, String name, String query) {
        Dataset<Row> rows = session.sql(query).persist(StorageLevel.MEMORY_ONLY());
        rows.createOrReplaceTempView(name);
        rows.count();
    }

    /** The lowest price that a question is about. */
    private static int lowest(int question) {
        return question * PRICES / QUESTIONS;
    }

    /** Sales and their sum for each region: a join and an aggregation. */
    void byRegion(int question) throws CheckException {
        Row[] rows = (Row[]) session.sql("SELECT region, count(*), sum(price) FROM sales JOIN customers USING (customer) WHERE price >= "
                        + lowest(question) + " GROUP BY region ORDER BY region")
                .collect();
        long[][] right = new long[REGIONS][2];
        for (long id = 0; id < SALES; id++) {
            long price = id * DISTANCE % PRICES;
            if (price >= lowest(question)) {
                long[] region = right[(int) (id % CUSTOMERS % REGIONS)];
                region[0]++;
                region[1] += price;
            }
        }
        boolean all = rows.length == REGIONS;
        for (int region = 0; all && region < REGIONS; region++) {
            Row row = rows[region];
            all = row.getLong(0) == region && row.getLong(1) == right[region][0] && row.getLong(2) == right[region][1];
        }
        if (!all) {
            throw new CheckException("the regions of question " + question + " are " + Arrays.toString(rows));
        }
    }

    /** The longest notes of all sales at one price: a filter, text and a sort. */
    void notes(int question) throws CheckException {
        Row[] rows = (Row[]) session.sql("SELECT upper(note), length(note) FROM sales WHERE price = " + lowest(question) + " ORDER BY id DESC")
                .collect();
        int found = 0;
        for (long id = SALES - 1L; id >= 0; id--) {
            if (id * DISTANCE % PRICES == lowest(question)) {
                if (found >= rows.length || !rows[found].getString(0).equals("SALE " + id)) {
                    throw new CheckException("the notes of question " + question + " lack sale " + id);
                }
                found++;
            }
        }
        if (found != rows.length) {
            throw new CheckException("the notes of question " + question + " are " + rows.length + ", not " + found);
        }
    }
}
