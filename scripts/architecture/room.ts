export type Room = {
  name: string;
  /** A folder, or files. Files of one room take precedence over a folder of another room that contains them. */
  paths: readonly [string, ...string[]];
  /** A short description of the contents. */
  holds: string;
  mayImport: readonly string[];
  /** The files that may use Hono; none when absent. */
  web?: "all" | readonly string[];
};
