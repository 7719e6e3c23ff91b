/** A profiler for JMH: {@code -prof terrace.jmh.TerraceProfiler}. */
package terrace.jmh;
