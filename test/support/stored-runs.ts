import type { TracingWorkspace } from "./tracing.ts";

/** A workspace that can send requests. */
export type Caller = Pick<TracingWorkspace, "api">;

export type Json = Record<string, unknown>;

/** Sends a request that must succeed, and returns its answer. */
export async function ask<T = Json>(
  { api }: Caller,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await api(method, path, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

export async function status(workspace: TracingWorkspace, ...request: [string, string, unknown?]) {
  return (await workspace.api(...request)).status;
}

export type Page = { runs: Json[]; cursors: { next: string | null } };

export function query(workspace: TracingWorkspace, body: object): Promise<Page> {
  return ask<Page>(workspace, "POST", "/runs/query", body);
}

export async function readRun(workspace: TracingWorkspace, id: string): Promise<Json> {
  return ask(workspace, "GET", `/runs/${id}`);
}

/** Returns selected members of a run that must be the only one. */
export async function selected(
  workspace: TracingWorkspace,
  id: string,
  select: string[],
): Promise<Json> {
  const { runs } = await query(workspace, { id: [id], select });
  const [run] = runs;
  if (run === undefined || runs.length > 1) throw new Error(`${runs.length} runs ${id}`);
  return run;
}

/** Returns the link to a payload that is stored separately. */
export function linkOf(urls: unknown): string {
  return (urls as { ROOT: { presigned_url: string } }).ROOT.presigned_url;
}

export async function projectId(workspace: TracingWorkspace, name: string): Promise<string> {
  const [project] = await ask<{ id: string }[]>(workspace, "GET", `/sessions?name=${name}`);
  return project?.id ?? "";
}
