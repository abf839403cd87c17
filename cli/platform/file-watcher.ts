import { watch, type FSWatcher } from "node:fs";
import { dirname, join } from "node:path";

/** Time to wait for further changes: editors write a file in several steps, and "save all" touches many files. */
const SETTLE_MS = 80;

export type FileWatcher = {
  /** Replaces the files that are watched. */
  update: (files: string[]) => void;
  /**
   * Whether any change in a folder of a watched file counts. While the last build is broken, a new file could
   * repair it.
   */
  watchWholeFolders: (whole: boolean) => void;
  close: () => void;
};

/** Calls `onChange` after changes of the given files, once for a burst of them. */
export function watchFiles(files: string[], onChange: () => void): FileWatcher {
  const folders = new Map<string, FSWatcher>();
  let watched = new Set<string>();
  let whole = false;
  let timer: NodeJS.Timeout | undefined;

  const changed = (file: string): void => {
    if (!whole && !watched.has(file)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  };
  const update = (next: string[]): void => {
    watched = new Set(next);
    const wanted = new Set(next.map((file) => dirname(file)));
    for (const [folder, watcher] of folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      folders.delete(folder);
    }
    for (const folder of wanted) {
      if (folders.has(folder)) continue;
      const watcher = watch(folder, (_event, name) => {
        if (name !== null) changed(join(folder, name));
      });
      watcher.on("error", () => folders.delete(folder));
      folders.set(folder, watcher);
    }
  };
  update(files);
  return {
    update,
    watchWholeFolders: (value) => {
      whole = value;
    },
    close: () => {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
      folders.clear();
    },
  };
}
