/** Lucene as one of the applications, in a jar of its own: with which Lucene it runs is the class path's choice. */
package terrace.applications.lucene;
