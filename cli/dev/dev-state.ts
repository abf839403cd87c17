import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../platform/private-folder.ts";
import { withProjectEnv } from "./project-env.ts";
import { textOrEmpty } from "../../src/lib/json.ts";

/** Where `wrangler dev` keeps its state unless it is told otherwise, below the repository. */
const DEV_STATE = ".wrangler/state";
/** Beside the databases, so that it goes when they do. */
const DONE_FILE = "v3/d1/prepared";

/**
 * Gives the database of `wrangler dev` its tables, and the workspace and key that `.dev.vars` names.
 * Resolves with a sentence about it, or with undefined when all of that was there. A `wrangler dev`
 * that is running already sees the change with its next query.
 */
export async function prepareDevState(repoRoot: string): Promise<string | undefined> {
  const stateDir = join(repoRoot, DEV_STATE);
  const doneFile = join(stateDir, DONE_FILE);
  const wanted = digestOfInputs(repoRoot);
  if (existsSync(doneFile) && readFileSync(doneFile, "utf8") === wanted) return undefined;

  // Loaded only now: wrangler's library takes longer than all that comes before.
  const [{ withDatabase }, { ensureLocalWorkspace }, { readWorkerConfig }, { keepRegion }] =
    await Promise.all([
      import("../database/open-database.ts"),
      import("../database/identity.ts"),
      import("../platform/worker-options.ts"),
      import("../platform/state-region.ts"),
    ]);
  const { bindings = {} } = (await readWorkerConfig(repoRoot)).miniflare;
  keepRegion(stateDir, bindings["REGION"] === "eu" ? "eu" : "us");
  makePrivateFolder(join(stateDir, "v3"));
  await withDatabase(repoRoot, { kind: "local", stateDir }, (database) =>
    ensureLocalWorkspace(database, {
      workspaceId: textOrEmpty(bindings["AGENT_WORKSPACE_ID"]),
      apiKey: textOrEmpty(bindings["LOCAL_API_KEY"]),
    }),
  );
  writeFileSync(doneFile, wanted);
  return `The local database in ${DEV_STATE} is ready. Its API key is LOCAL_API_KEY in .dev.vars.`;
}

/** Of all that the result depends on. */
function digestOfInputs(repoRoot: string): string {
  const migrations = readdirSync(join(repoRoot, "migrations")).filter((name) =>
    name.endsWith(".sql"),
  );
  const files = [
    "wrangler.toml",
    ".dev.vars",
    ...migrations.toSorted().map((name) => `migrations/${name}`),
  ];
  const hash = createHash("sha256");
  for (const name of files) {
    const file = join(repoRoot, name);
    const content = existsSync(file) ? readFileSync(file, "utf8") : "";
    // The graphs' variables, in .dev.vars, are no concern of the database.
    hash.update(JSON.stringify([name, withProjectEnv(content, {})]));
  }
  return hash.digest("hex");
}
