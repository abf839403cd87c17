import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, inject, test, vi } from "vitest";
import { deployments, revisions } from "../../src/db/deployments-schema.ts";
import { sealSecret } from "../../src/secrets/secret-box.ts";
import { builtCodeKey, packCode } from "../../src/revision-host/built-code.ts";
import { CODE_UNAVAILABLE, loadRevision } from "../../src/revision-host/load-revision.ts";
import { GITHUB_TOKEN, OUTBOUND_HOSTS, PUSH_SECRET } from "../../src/secrets/secret-names.ts";
import { secretContext } from "../../src/revision-host/revision-secrets.ts";
import { migrateIndex } from "./support.ts";

const KEYS = `1:${btoa("1".repeat(32)).replace("=", "")}`;

type Loaded = { name: string; code: () => Promise<WorkerLoaderWorkerCode> };

beforeAll(() => migrateIndex(inject("migrations")));

/** Creates a revision whose code is loaded with a loader that records its arguments. */
async function newRevision(secrets: Record<string, string>, vars: Record<string, string> = {}) {
  const ref = {
    workspaceId: crypto.randomUUID(),
    deploymentId: crypto.randomUUID(),
    revisionId: crypto.randomUUID(),
  };
  const { workspaceId, deploymentId, revisionId } = ref;
  const orm = drizzle(env.DB);
  await orm.insert(deployments).values({
    workspace_id: workspaceId,
    id: deploymentId,
    name: "named",
    slug: deploymentId,
    source: "internal_source",
    source_config: "{}",
    status: "READY",
    latest_revision_id: revisionId,
    deletes_project: false,
    created_at: 0,
    updated_at: 0,
  });
  const sealed = await Promise.all(
    Object.entries(secrets).map(async ([name, value]) => [
      name,
      await sealSecret(KEYS, value, secretContext(ref, name)),
    ]),
  );
  await orm.insert(revisions).values({
    workspace_id: workspaceId,
    deployment_id: deploymentId,
    id: revisionId,
    status: "DEPLOYED",
    source: "internal_source",
    secrets: JSON.stringify(Object.fromEntries(sealed)),
    created_at: 0,
    updated_at: 0,
    attempts: 1,
  });
  const bytes = new TextEncoder().encode("export {}");
  const built = { main: "project.js", modules: { "project.js": { type: "js", bytes } as const } };
  await env.SOURCES.put(builtCodeKey(ref), packCode(built));
  const loaded: Loaded[] = [];
  const get = (name: string, code: Loaded["code"]) => {
    loaded.push({ name, code });
    return { getEntrypoint: vi.fn<() => object>(() => ({})) };
  };
  const given = { ...env, ENCRYPTION_KEYS: KEYS, ...vars, LOADER: { get } } as unknown as Env;
  const entrypoint = (kind: string) => (options: object) => ({ kind, ...options });
  const exports = {
    AgentServer: entrypoint("agent server"),
    Outbound: entrypoint("outbound"),
    RevisionTail: entrypoint("tail"),
  };
  const load = () => loadRevision(given, exports as unknown as Cloudflare.Exports, ref);
  return { ref, loaded, load };
}

describe("loadRevision", () => {
  test("gives the isolate limits, its own environment, and one way out", async ({ expect }) => {
    const { ref, loaded, load } = await newRevision(
      {
        API_TOKEN: "secret",
        [OUTBOUND_HOSTS]: "api.example.com, *.example.org",
        [GITHUB_TOKEN]: "of the repository",
        [PUSH_SECRET]: "of the webhook",
      },
      { DEPLOYED_CPU_MS: "1234", DEPLOYED_SUBREQUESTS: "56" },
    );
    load();
    expect(loaded[0]?.name).toBe(`${ref.workspaceId}/${ref.deploymentId}/${ref.revisionId}`);
    expect(await loaded[0]?.code()).toEqual({
      compatibilityDate: "2026-11-01",
      compatibilityFlags: ["nodejs_compat"],
      mainModule: "project.js",
      modules: { "project.js": { js: "export {}" } },
      env: {
        THREADWORKS_AGENT_SERVER: {
          kind: "agent server",
          props: { workspaceId: ref.workspaceId, deploymentId: ref.deploymentId },
        },
        API_TOKEN: "secret",
        LANGSMITH_HOST_PROJECT_ID: ref.deploymentId,
        LANGSMITH_HOST_PROJECT_NAME: "named",
        LANGSMITH_HOST_REVISION_ID: ref.revisionId,
      },
      limits: { cpuMs: 1234, subRequests: 56 },
      globalOutbound: {
        kind: "outbound",
        props: { ...ref, hosts: ["api.example.com", "*.example.org"] },
      },
      tails: [{ kind: "tail", props: ref }],
    });
  });

  test("loads code from before it was packed", async ({ expect }) => {
    const { ref, loaded, load } = await newRevision({});
    const modules = {
      "project.js": { js: "export {}" },
      "a.txt": { text: "Grüße" },
      "a.json": { json: { a: [1] } },
      "a.wasm": { wasm: "AGFzbQ==" },
    };
    await env.SOURCES.put(builtCodeKey(ref), JSON.stringify({ main: "project.js", modules }));
    load();
    const code = await loaded[0]?.code();
    expect(code?.modules).toEqual({
      ...modules,
      "a.wasm": { wasm: Uint8Array.of(0, 97, 115, 109) },
    });
  });

  test("loads nothing that exceeds the limit of a tarball", async ({ expect }) => {
    const { ref, loaded, load } = await newRevision({});
    await env.SOURCES.put(builtCodeKey(ref), new Uint8Array(26 * 1024 * 1024));
    load();
    await expect(loaded[0]?.code()).rejects.toThrow("it has 27262976 bytes, and at most");
  });

  test("sets limits even if none are configured", async ({ expect }) => {
    const { loaded, load } = await newRevision({});
    load();
    const code = await loaded[0]?.code();
    expect(code?.limits).toEqual({ cpuMs: 60_000, subRequests: 10_000 });
    expect(code?.globalOutbound).toMatchObject({ kind: "outbound", props: { hosts: null } });
  });

  test("retries under another name if the code could not be read", async ({ expect }) => {
    const { ref, loaded, load } = await newRevision({});
    await env.SOURCES.delete(builtCodeKey(ref));
    load();
    await expect(loaded[0]?.code()).rejects.toMatchObject({ code: CODE_UNAVAILABLE });
    load();
    expect(loaded[1]?.name).toBe(`${loaded[0]?.name}/1`);
  });

  test("opens no secret under the name of another one, or of another deployment", async ({
    expect,
  }) => {
    const { ref, loaded, load } = await newRevision({ FIRST: "one" });
    const row = await env.DB.prepare("SELECT secrets FROM revisions WHERE id = ?")
      .bind(ref.revisionId)
      .first<{ secrets: string }>();
    const { FIRST } = JSON.parse(row?.secrets ?? "{}");
    await env.DB.prepare("UPDATE revisions SET secrets = ? WHERE id = ?")
      .bind(JSON.stringify({ OTHER: FIRST }), ref.revisionId)
      .run();
    load();
    await expect(loaded[0]?.code()).rejects.toThrow("cannot be opened");
  });
});
