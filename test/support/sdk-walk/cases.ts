import { ASSISTANTS } from "./assistants.ts";
import { CRONS } from "./crons.ts";
import { RUNS } from "./runs.ts";
import { STORE } from "./store.ts";
import { THREADS } from "./threads.ts";
import type { WalkCase, WalkCases } from "./walk.ts";

const UI: WalkCases = {
  getComponent: {
    check: async ({ client, expect }) => {
      const html = await client["~ui"].getComponent("branching", "trail");
      expect(html).toMatch(/__LGUI_branching\.render\("trail", "\{\{shadowRootId\}\}"\)/);
    },
    // Components belong to the project, and are the same for all of its users.
    about: null,
  },
};

const OF_CLIENTS: Record<string, WalkCases> = {
  assistants: ASSISTANTS,
  threads: THREADS,
  runs: RUNS,
  crons: CRONS,
  store: STORE,
  "~ui": UI,
};

/** The cases of all public methods of the SDK's clients, keyed by `<client>.<method>`. */
export const CASES: ReadonlyMap<string, WalkCase> = new Map(
  Object.entries(OF_CLIENTS).flatMap(([client, cases]) =>
    Object.entries(cases).map(([method, each]) => [`${client}.${method}`, each] as const),
  ),
);
