// A deep agent that reads the project's own files, and keeps memories in the store.
import { join } from "node:path";
import {
  CompositeBackend,
  createDeepAgent,
  createSettings,
  FilesystemBackend,
  LocalShellBackend,
  StateBackend,
  StoreBackend,
} from "deepagents";

// Projects import everything that their code paths may need, as on a machine with a shell.
export const backends = { LocalShellBackend, createSettings };

export const agent = createDeepAgent({
  model: "anthropic:claude-sonnet-4-5",
  systemPrompt: "You keep a library.",
  backend: (runtime) =>
    new CompositeBackend(new StateBackend(runtime), {
      "/books/": new FilesystemBackend({
        rootDir: join(process.cwd(), "books"),
        virtualMode: true,
      }),
      "/memories/": new StoreBackend(runtime),
    }),
});
