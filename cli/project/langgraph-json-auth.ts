import { z } from "zod";
import { CliError } from "../cli-error.ts";
import { type ModuleExport, resolveExport } from "./module-export.ts";

const DEFAULT_TTL_SECONDS = 60;
const DEFAULT_MAX_SIZE = 1000;

export const authSchema = z.strictObject({
  path: z.string().optional(),
  disable_studio_auth: z.boolean().optional(),
  openapi: z.record(z.string(), z.unknown()).optional(),
  cache: z
    .strictObject({
      cache_keys: z.array(z.string().min(1)).min(1),
      ttl_seconds: z.number().positive().optional(),
      max_size: z.int().positive().optional(),
    })
    .nullish(),
});

type AuthConfig = z.infer<typeof authSchema> | null | undefined;

export type AuthSource = ModuleExport & {
  disableStudio: boolean;
  /** The result of an authentication is cached by the values of these headers. */
  cache: { headers: string[]; ttl_ms: number; max_size: number } | null;
};

/** Reads the setting. Throws a `CliError` when `path` names no export of a module. */
export function readAuth(
  config: AuthConfig,
  projectDir: string,
  configPath: string,
): AuthSource | undefined {
  if (config?.path === undefined) return undefined;
  const source = resolveExport(
    { what: '"auth.path"', spec: config.path, example: "./auth.ts:auth" },
    projectDir,
  );
  if (typeof source === "string") throw new CliError(`${configPath} cannot be used:\n  ${source}`);
  const { cache } = config;
  return {
    ...source,
    disableStudio: config.disable_studio_auth ?? false,
    cache: cache
      ? {
          headers: cache.cache_keys.map((name) => name.toLowerCase()),
          ttl_ms: (cache.ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1000,
          max_size: cache.max_size ?? DEFAULT_MAX_SIZE,
        }
      : null,
  };
}

export function authWarnings(config: AuthConfig): string[] {
  if (!config) return [];
  const { path, openapi, ...rest } = config;
  const warnings: string[] = [];
  if (openapi !== undefined) warnings.push('"auth.openapi" has no effect');
  if (path === undefined) {
    const keys = Object.keys(rest).map((key) => `"auth.${key}"`);
    if (keys.length > 0) warnings.push(`${keys.join(", ")} without "auth.path" has no effect`);
  }
  return warnings;
}
