package terrace.applications;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import terrace.workloads.CheckException;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/**
 * H2, a database in this JVM: transfers between accounts, each of which reads two balances, changes both, writes a line of history and
 * commits. The history is a ring, so that the database keeps its size.
 */
final class H2 implements Workload {
    private static final String URL = "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000";
    private static final int ACCOUNTS = 10_000;
    private static final int HISTORY = 20_000;
    private static final long BALANCE = 1_000_000;
    private static final int MOST = 100;

    @Override
    public String name() {
        return "h2";
    }

    @Override
    public String summary() {
        return "H2 in memory: each thread transfers between accounts, a transaction of five statements";
    }

    @Override
    public int defaultThreads() {
        return 64;
    }

    @Override
    public double defaultWarmup() {
        return 10;
    }

    @Override
    public Prepared prepare(Parameters parameters) throws SQLException {
        // Held until the process ends, as the database is.
        Connection connection = DriverManager.getConnection(URL);
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table account(id int primary key, owner varchar(40), balance bigint not null)");
            statement.execute("create table history(slot int primary key, source int, target int, amount bigint, note varchar(80))");
            statement.execute("insert into account select x, 'owner ' || x, " + BALANCE + " from system_range(0, "
                    + (ACCOUNTS - 1) + ")");
            statement.execute("insert into history select x, 0, 0, 0, '' from system_range(0, " + (HISTORY - 1) + ")");
        }
        return new Prepared() {
            @Override
            public String operation() {
                return "transfer between two accounts";
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new Teller(index, parameters.threads(), tally);
            }

            @Override
            public Map<String, Object> findings() throws SQLException, CheckException {
                try (Statement statement = connection.createStatement()) {
                    long sum = number(statement, "select sum(balance) from account");
                    if (sum != ACCOUNTS * BALANCE) {
                        throw new CheckException("the sum of all balances is " + sum + ", not " + ACCOUNTS * BALANCE);
                    }
                    long lines = number(statement, "select count(*) from history");
                    if (lines != HISTORY) {
                        throw new CheckException("the history has " + lines + " lines, not " + HISTORY);
                    }
                }
                connection.close();
                return Map.of();
            }
        };
    }

    private static long number(Statement statement, String query) throws SQLException {
        try (ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getLong(1);
        }
    }

    /** One connection, which belongs to one thread. */
    private static final class Teller implements Worker {
        private final int part;
        private final int lines;
        private final Tally tally;
        private int line;
        private Connection connection;
        private PreparedStatement read;
        private PreparedStatement change;
        private PreparedStatement record;

        /** A teller who has a part of the history for himself. */
        Teller(int index, int tellers, Tally tally) {
            this.lines = Math.max(1, HISTORY / tellers);
            this.part = index * lines % HISTORY;
            this.tally = tally;
        }

        @Override
        public void begin() throws SQLException {
            connection = DriverManager.getConnection(URL);
            connection.setAutoCommit(false);
            read = connection.prepareStatement("select owner, balance from account where id = ? for update");
            change = connection.prepareStatement("update account set balance = ? where id = ?");
            record = connection.prepareStatement(
                    "update history set source = ?, target = ?, amount = ?, note = ? where slot = ?");
        }

        @Override
        public void batch() throws SQLException, CheckException {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            int first = random.nextInt(ACCOUNTS - 1);
            // In the order of numbers: no two transactions wait for each other.
            int second = random.nextInt(first + 1, ACCOUNTS);
            long amount = random.nextInt(-MOST, MOST + 1);
            long one = balance(first);
            long other = balance(second);
            set(first, one - amount);
            set(second, other + amount);
            record.setInt(1, first);
            record.setInt(2, second);
            record.setLong(3, amount);
            record.setString(4, "transfer of " + amount + " from " + first + " to " + second);
            record.setInt(5, part + line);
            one(record);
            connection.commit();
            line = (line + 1) % lines;
            tally.add(1);
        }

        private long balance(int account) throws SQLException, CheckException {
            read.setInt(1, account);
            try (ResultSet result = read.executeQuery()) {
                if (!result.next() || !result.getString(1).equals("owner " + account)) {
                    throw new CheckException("account " + account + " is not there, or is another's");
                }
                return result.getLong(2);
            }
        }

        private void set(int account, long balance) throws SQLException, CheckException {
            change.setLong(1, balance);
            change.setInt(2, account);
            one(change);
        }

        private static void one(PreparedStatement statement) throws SQLException, CheckException {
            int rows = statement.executeUpdate();
            if (rows != 1) {
                throw new CheckException("a statement changed " + rows + " rows, not 1");
            }
        }

        @Override
        public void end() throws SQLException {
            connection.close();
        }
    }
}
