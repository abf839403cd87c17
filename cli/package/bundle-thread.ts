/** The entry of the thread that bundles graphs, in the package. It adds what an older Node lacks. */
import "./node-20.ts";
import "../project/bundle-thread.ts";
