import type { HttpInfo } from "./http-info.ts";
import type { HttpAppDefinition } from "./http-app.ts";

/** What a build makes of `http` in a project's `langgraph.json`. */
export type HttpDefinition = Omit<HttpInfo, "app"> & {
  app?: HttpAppDefinition;
  /** A regular expression that the whole of an origin has to match. */
  originPattern?: string;
};

/** Files by their names, by the names that `ui` in `langgraph.json` has. */
export type UiFiles = Record<string, Record<string, string>>;

export function httpInfo(definition: HttpDefinition | undefined): HttpInfo | null {
  if (definition === undefined) return null;
  const { app, originPattern: _pattern, ...info } = definition;
  return { ...info, app: app !== undefined };
}

/** Asked here and not on the platform: an expression can be made to take for ever. */
export function matchesOrigin(definition: HttpDefinition | undefined, origin: string): boolean {
  const pattern = definition?.originPattern;
  return pattern !== undefined && new RegExp(`^(?:${pattern})$`).test(origin);
}

export function uiFile(files: UiFiles, name: string, file: string): string | null {
  const ofName = Object.hasOwn(files, name) ? files[name] : undefined;
  return ofName !== undefined && Object.hasOwn(ofName, file) ? (ofName[file] ?? null) : null;
}
