/**
 * JMH benchmarks, one class per subject.
 *
 * <p>All of them return or consume what they compute, keep what threads change apart unless sharing is what is measured, and
 * check their own results. They are run by {@code terrace lab}, or by hand: {@code java -jar terrace-benchmarks.jar Tlab}.
 */
package terrace.benchmarks;
