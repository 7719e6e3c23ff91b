/** Spark SQL as one of the applications, in a jar of its own because of its many libraries. */
package terrace.applications.spark;
