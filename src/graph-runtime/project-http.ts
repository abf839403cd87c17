import type { HttpInfo } from "./http-info.ts";
import type { HttpAppDefinition } from "./http-app.ts";

/** The build's form of `http` in a project's `langgraph.json`. */
export type HttpDefinition = Omit<HttpInfo, "app"> & {
  app?: HttpAppDefinition;
  /** A regular expression that must match an origin as a whole. */
  originPattern?: string;
};

/** File contents, keyed by the name of the interface under `ui` in `langgraph.json` and then by file name. */
export type UiFiles = Record<string, Record<string, string>>;

export function httpInfo(definition: HttpDefinition | undefined): HttpInfo | null {
  if (definition === undefined) return null;
  const { app, originPattern: _pattern, ...info } = definition;
  return { ...info, app: app !== undefined };
}

/**
 * Returns whether the project's pattern matches the origin. This is evaluated in the graph host and not on
 * the platform, because a regular expression can be made to run for ever.
 */
export function matchesOrigin(definition: HttpDefinition | undefined, origin: string): boolean {
  const pattern = definition?.originPattern;
  return pattern !== undefined && new RegExp(`^(?:${pattern})$`).test(origin);
}

export function uiFile(files: UiFiles, name: string, file: string): string | null {
  const ofName = Object.hasOwn(files, name) ? files[name] : undefined;
  return ofName !== undefined && Object.hasOwn(ofName, file) ? (ofName[file] ?? null) : null;
}
