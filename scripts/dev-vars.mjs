/** The settings of a platform on one's own machine. Runs before anything is installed, so it has no dependencies. */
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, readFile, rename, stat, writeFile } from "node:fs/promises";

const KEY_BYTES = 32;

/**
 * Writes the settings of a local platform that a file such as `.dev.vars` lacks; what is there stays as it is.
 * Returns the names of those added.
 */
export async function ensureDevVars(path) {
  const text = existsSync(path) ? await readFile(path, "utf8") : "";
  const present = new Set(
    [...text.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/gm)].map(([, name]) => name),
  );
  const settings = {
    AGENT_AUTH: "none",
    AGENT_WORKSPACE_ID: randomUUID(),
    LOCAL_API_KEY: newApiKey(),
    SIGNING_SECRET: randomBytes(KEY_BYTES).toString("base64url"),
    ENCRYPTION_KEYS: `1:${randomBytes(KEY_BYTES).toString("base64url")}`,
    RATE_LIMITS: "off",
    SELF_HOSTED: "on",
    EXPORT_PRIVATE_ENDPOINTS: "allow",
    OUTBOUND_PRIVATE_ENDPOINTS: "allow",
    LOCAL_S3_ACCESS_KEY_ID: randomBytes(10).toString("hex"),
    LOCAL_S3_SECRET_ACCESS_KEY: randomBytes(30).toString("base64url"),
  };
  const missing = Object.entries(settings).filter(([name]) => !present.has(name));
  // It has keys in it, also where somebody else has written it. Servers that watch it would take any chmod for a change.
  if (text !== "" && ((await stat(path)).mode & 0o777) !== 0o600) await chmod(path, 0o600);
  if (missing.length === 0) return [];
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  const added = missing.map(([name, value]) => `${name}=${value}\n`).join("");
  // Somebody else may be about to read it.
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, text + separator + added, { mode: 0o600 });
  await rename(partial, path);
  return missing.map(([name]) => name);
}

function newApiKey() {
  return `tw_${randomBytes(KEY_BYTES).toString("base64url")}`;
}
