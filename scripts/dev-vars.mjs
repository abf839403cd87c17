/** The settings of a local platform. This runs before anything is installed, so it has no dependencies. */
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, readFile, rename, stat, writeFile } from "node:fs/promises";

const KEY_BYTES = 32;

/**
 * Adds the settings of a local platform that a file such as `.dev.vars` lacks; existing ones are kept.
 * Returns the names of the added settings.
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
  // The file contains keys, even when the user has written it. Its mode is only changed if needed, because
  // servers that watch the file would treat any chmod as a change.
  if (text !== "" && ((await stat(path)).mode & 0o777) !== 0o600) await chmod(path, 0o600);
  if (missing.length === 0) return [];
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  const added = missing.map(([name, value]) => `${name}=${value}\n`).join("");
  // The file is replaced atomically, because another process may be reading it.
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, text + separator + added, { mode: 0o600 });
  await rename(partial, path);
  return missing.map(([name]) => name);
}

function newApiKey() {
  return `tw_${randomBytes(KEY_BYTES).toString("base64url")}`;
}
