import { z } from "zod";
import { agentServerSettings } from "./agent-server/settings.ts";
import { bulkExportSettings } from "./bulk-export/settings.ts";
import { controlPlaneSettings } from "./control-plane/settings.ts";
import { frontDoorSettings } from "./front-door/settings.ts";
import { identitySettings } from "./identity/settings.ts";
import { LOG_LEVELS } from "./lib/log.ts";
import { oneOf, readSettings, text, type Vars } from "./lib/settings.ts";
import { rateLimitSettings } from "./rate-limits/settings.ts";
import { regionSettings } from "./regions/settings.ts";
import { revisionHostSettings } from "./revision-host/settings.ts";
import { tracingSettings } from "./tracing/settings.ts";

/** Settings that several capabilities share. */
const commonSettings = z
  .object({
    LOG_LEVEL: oneOf(LOG_LEVELS, "info"),
    SIGNING_SECRET: text(""),
    ENCRYPTION_KEYS: text(""),
  })
  .transform((vars) => ({
    logLevel: vars.LOG_LEVEL,
    /** Key that signs links that work without an API key. */
    signingSecret: vars.SIGNING_SECRET,
    /** Keys for secrets at rest, each as `<version>:<key>`, separated by commas; the first one encrypts. */
    encryptionKeys: vars.ENCRYPTION_KEYS,
  }));

export type Settings = ReturnType<typeof read>;

const parsed = new WeakMap<object, Settings>();

/** Reads the Worker's variables, once per isolate. Throws an error that names the invalid variable. */
export function parseSettings(env: object): Settings {
  let settings = parsed.get(env);
  if (settings === undefined) {
    settings = read(env as Vars);
    parsed.set(env, settings);
  }
  return settings;
}

function read(env: Vars) {
  return {
    ...readSettings(commonSettings, env),
    ...readSettings(regionSettings, env),
    ...readSettings(frontDoorSettings, env),
    ...readSettings(identitySettings, env),
    ...readSettings(rateLimitSettings, env),
    ...readSettings(agentServerSettings, env),
    ...readSettings(tracingSettings, env),
    ...readSettings(bulkExportSettings, env),
    ...readSettings(controlPlaneSettings, env),
    ...readSettings(revisionHostSettings, env),
  };
}
