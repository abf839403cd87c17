export type Room = {
  name: string;
  /** A folder, or files. Those of a room further up win over the folder that they are in. */
  paths: readonly [string, ...string[]];
  /** What is in there, in a few words. */
  holds: string;
  mayImport: readonly string[];
  /** Which of its files know Hono; none when it is missing. */
  web?: "all" | readonly string[];
};
