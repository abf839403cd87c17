/** What an isolate has not, in the place of `node:vm` and `node:worker_threads`: the reader of schemas does without. */
const absent = (): never => {
  throw new Error("There is none in an isolate");
};

/** It gives values that classes begin with as defaults: these are not known then. */
export const runInNewContext = absent;
export const Worker = absent;
