/**
 * Replaces `node:vm` and `node:worker_threads`, which an isolate does not have; the schema reader works
 * without them.
 */
const absent = (): never => {
  throw new Error("This is not available in an isolate");
};

/** The schema reader uses this to evaluate default values in classes; without it they are left out. */
export const runInNewContext = absent;
export const Worker = absent;
