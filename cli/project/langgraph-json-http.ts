import { z } from "zod";
import { type CorsInfo, DISABLEABLE, type HttpInfo } from "../../src/graph-runtime/http-info.ts";
import { CliError } from "../cli-error.ts";
import { type ModuleExport, resolveExport } from "./module-export.ts";

/** Paths that the platform itself serves: `src/front-door/surface.ts` distinguishes surfaces by path. */
const TAKEN_PREFIX =
  /^\/(?:v2|v1\/projects|api\/v[12]|otel|deployments|docs|info|ok|openapi\.json)(?:\/|$)/;

const names = z.array(z.string().min(1).max(256)).max(100);

const headerChoice = z.strictObject({ includes: names.nullish(), excludes: names.nullish() });

const disableFlags = Object.fromEntries(
  DISABLEABLE.map((name) => [`disable_${name}`, z.boolean().nullish()]),
) as Record<`disable_${(typeof DISABLEABLE)[number]}`, z.ZodOptional<z.ZodNullable<z.ZodBoolean>>>;

export const httpSchema = z.strictObject({
  app: z.string().nullish(),
  ...disableFlags,
  configurable_headers: headerChoice.nullish(),
  logging_headers: headerChoice.nullish(),
  cors: z
    .strictObject({
      allow_origins: names.nullish(),
      allow_origin_regex: z
        .string()
        .max(1000)
        .refine(isPattern, { message: "is not a regular expression" })
        .nullish(),
      allow_methods: names.nullish(),
      allow_headers: names.nullish(),
      allow_credentials: z.boolean().nullish(),
      expose_headers: names.nullish(),
      max_age: z.int().min(0).nullish(),
    })
    .nullish(),
  mount_prefix: z
    .string()
    .regex(/^(?:\/[\w.~-]+)+\/?$/, { message: 'must be a path like "/base"' })
    .max(256)
    .refine((path) => !TAKEN_PREFIX.test(path), { message: "is a path of the platform's own" })
    .nullish(),
  enable_custom_route_auth: z.boolean().nullish(),
  middleware_order: z.enum(["auth_first", "middleware_first"]).nullish(),
});

type HttpConfig = z.infer<typeof httpSchema> | null | undefined;

export type HttpSource = {
  app: ModuleExport | undefined;
  /** A regular expression that must match an origin as a whole. */
  originPattern: string | undefined;
  info: Omit<HttpInfo, "app">;
};

/** Reads the setting. Throws a `CliError` when `app` names no export of a module. */
export function readHttp(
  config: HttpConfig,
  projectDir: string,
  configPath: string,
): HttpSource | undefined {
  if (!config) return undefined;
  return {
    app: readApp(config.app ?? undefined, projectDir, configPath),
    originPattern: config.cors?.allow_origin_regex ?? undefined,
    info: {
      app_auth: config.enable_custom_route_auth ?? true,
      disabled: DISABLEABLE.filter((name) => config[`disable_${name}`] === true),
      mount_prefix: config.mount_prefix?.replace(/\/$/, "") ?? null,
      configurable_headers: toChoice(config.configurable_headers),
      logging_headers: toChoice(config.logging_headers),
      cors: config.cors ? toCors(config.cors) : null,
    },
  };
}

export function httpWarnings(config: HttpConfig): string[] {
  const isAuthFirst = config?.enable_custom_route_auth !== false;
  if (config?.middleware_order !== "middleware_first" || !isAuthFirst) return [];
  return ['"http.middleware_order" is always "auth_first": "middleware_first" has no effect'];
}

function readApp(
  spec: string | undefined,
  projectDir: string,
  configPath: string,
): ModuleExport | undefined {
  if (spec === undefined) return undefined;
  const app = resolveExport({ what: '"http.app"', spec, example: "./app.ts:app" }, projectDir);
  if (typeof app === "string") throw new CliError(`${configPath} cannot be used:\n  ${app}`);
  return app;
}

function toChoice(choice: z.infer<typeof headerChoice> | null | undefined) {
  if (!choice) return null;
  return { includes: choice.includes ?? [], excludes: choice.excludes ?? [] };
}

function toCors(cors: NonNullable<NonNullable<HttpConfig>["cors"]>): CorsInfo {
  const origins = cors.allow_origins ?? null;
  const hasPattern = typeof cors.allow_origin_regex === "string";
  return {
    // As in the reference server, a pattern replaces the list.
    allow_origins: hasPattern || origins?.includes("*") === true ? null : origins,
    has_origin_pattern: hasPattern,
    allow_methods: cors.allow_methods ?? null,
    allow_headers: cors.allow_headers ?? null,
    allow_credentials: cors.allow_credentials ?? false,
    expose_headers: cors.expose_headers ?? [],
    max_age: cors.max_age ?? null,
  };
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(`^(?:${text})$`) instanceof RegExp;
  } catch {
    return false;
  }
}
