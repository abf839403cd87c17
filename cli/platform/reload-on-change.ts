import { watchFiles } from "./file-watcher.ts";

export type Reloading<Build> = {
  first: Build;
  inputsOf: (build: Build) => string[];
  build: () => Promise<Build>;
  /** Puts a build into service. */
  serve: (build: Build) => Promise<void>;
  onReloaded: (build: Build) => void;
  onFailed: (error: Error) => void;
};

/**
 * Builds and serves again after each change of the inputs, one build at a time. When a build fails or cannot
 * be served, the previous one stays in service. Returns a function that stops watching.
 */
export function reloadOnChange<Build>(options: Reloading<Build>): () => void {
  let serving = options.first;
  let running = false;
  let changedAgain = false;

  const reload = async (): Promise<void> => {
    try {
      const next = await options.build();
      try {
        await options.serve(next);
      } catch (error) {
        await options.serve(serving);
        throw error;
      }
      serving = next;
      watcher.update(options.inputsOf(next));
      watcher.watchWholeFolders(false);
      options.onReloaded(next);
    } catch (error) {
      watcher.watchWholeFolders(true);
      options.onFailed(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const changed = async (): Promise<void> => {
    changedAgain = true;
    if (running) return;
    running = true;
    while (changedAgain) {
      changedAgain = false;
      await reload();
    }
    running = false;
  };
  const watcher = watchFiles(options.inputsOf(options.first), () => void changed());
  return () => watcher.close();
}
