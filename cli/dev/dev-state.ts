import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../platform/private-folder.ts";
import { withProjectEnv } from "./project-env.ts";
import { textOrEmpty } from "../../src/lib/json.ts";

/** The folder below the repository in which `wrangler dev` keeps its state by default. */
const DEV_STATE = ".wrangler/state";
/** Stored beside the databases, so that it is removed together with them. */
const DONE_FILE = "v3/d1/prepared";

/**
 * Creates the tables of the database of `wrangler dev`, and the workspace and key that `.dev.vars` names.
 * Resolves with a message about it, or with undefined when everything was up to date. A running `wrangler
 * dev` sees the change with its next query.
 */
export async function prepareDevState(repoRoot: string): Promise<string | undefined> {
  const stateDir = join(repoRoot, DEV_STATE);
  const doneFile = join(stateDir, DONE_FILE);
  const wanted = digestOfInputs(repoRoot);
  if (existsSync(doneFile) && readFileSync(doneFile, "utf8") === wanted) return undefined;

  // Loaded on demand: wrangler's library takes longer to load than everything before it takes.
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

/** Returns a digest of all inputs of the result. */
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
    // The graphs' variables in .dev.vars do not affect the database.
    hash.update(JSON.stringify([name, withProjectEnv(content, {})]));
  }
  return hash.digest("hex");
}
