import { describe } from "vitest";
import { makeRun, makeTrace, micros, type SampleRun, storeRuns } from "../support/sample-runs.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { tracingWorkspace } from "../support/tracing.ts";
import { MISSING_ID, UUID } from "../support/uuid.ts";

const test = testWithSharedServer();

const HOUR_MS = 3_600_000;

describe("a shared trace", () => {
  test("can be read without a key until it is private again", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 share");
    const { client } = workspace;
    const { root, model, tool } = makeTrace(HOUR_MS);
    const secret = makeRun(1000, {});
    const project = await storeRuns(workspace, "share", [root, model, tool, secret]);
    const where = { session_id: project, trace_id: root.id };
    const { share_token: token = "" } = await client.runs.share.create(model.id, where);
    expect(token).toMatch(UUID);
    expect(await client.runs.share.create(root.id, where)).toEqual({ share_token: token });
    // Older clients send only the run.
    const unnamed = await server.fetch(`/api/v2/runs/${root.id}/share`, {
      method: "POST",
      headers: { "x-api-key": workspace.apiKey, "content-type": "application/json" },
      body: "{}",
    });
    expect(await unnamed.json()).toEqual({ share_token: token });

    const open = (method: string, path: string, body?: object) =>
      server.fetch(`/api/v2/public/${token}${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const list = await open("POST", "/runs/query", { selects: ["ID", "PARENT_RUN_ID"] });
    expect(await list.json()).toEqual({
      items: [
        { id: root.id },
        { id: model.id, parent_run_id: root.id },
        { id: tool.id, parent_run_id: root.id },
      ],
    });
    const one = await open("GET", `/run/${root.id}?selects=INPUTS&selects=OUTPUTS`);
    expect(await one.json()).toEqual({
      inputs: { question: "weather?" },
      outputs: { answer: "sunny" },
    });
    expect((await open("GET", `/run/${secret.id}?selects=ID`)).status).toBe(404);
    expect((await open("POST", "/runs/query", { selects: ["INPUTS"] })).status).toBe(422);
    expect((await open("GET", `/run/${root.id}?selects=APP_PATH`)).status).toBe(422);

    expect(await client.public.runs.query(token, { selects: ["NAME"] })).toEqual({
      items: [{ name: "agent" }, { name: "model" }, { name: "search" }],
    });
    const start_time = String(tool.body["start_time"]);
    const read = { share_token: token, selects: ["STATUS", "START_TIME"], start_time };
    expect(await client.public.runs.retrieve(tool.id, read)).toEqual({
      status: "ERROR",
      start_time: micros(start_time),
    });
    const shareUrl = async ({ id }: SampleRun) =>
      (await client.runs.retrieve(id, { project_id: project, selects: ["SHARE_URL"] })).share_url;
    expect(await shareUrl(root)).toBe(`${server.url}/public/${token}/r`);
    expect(await shareUrl(tool)).toBe(`${server.url}/public/${token}/r`);
    expect(await shareUrl(secret)).toBeUndefined();

    await client.runs.share.delete(root.id, { session_id: MISSING_ID });
    expect((await open("POST", "/runs/query", {})).status).toBe(200);
    await client.runs.share.delete(root.id, { session_id: project });
    await client.runs.share.delete(root.id, { session_id: project });
    const gone = await open("POST", "/runs/query", {});
    expect([gone.status, gone.headers.get("content-type")]).toEqual([
      404,
      "application/problem+json",
    ]);
    expect(await shareUrl(root)).toBeUndefined();
  });

  test("of a single run shows only the runs below it", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 partial share");
    const { root, model, tool } = makeTrace(HOUR_MS);
    await storeRuns(workspace, "partial", [root, model, tool]);
    const shared = await workspace.api("PUT", `/runs/${model.id}/share`, {});
    const { share_token } = (await shared.json()) as { share_token: string };
    const { runs } = workspace.client.public;
    expect(await runs.query(share_token, {})).toEqual({ items: [{ id: model.id }] });
    const read = { share_token, selects: ["ID"], start_time: String(root.body["start_time"]) };
    await expect(runs.retrieve(root.id, read)).rejects.toMatchObject({ status: 404 });
  });

  test("can be shared only by workspaces that may read it", async ({ server, expect }) => {
    const owner = await tracingWorkspace(server, "v2 owner");
    const stranger = await tracingWorkspace(server, "v2 stranger");
    const run = makeRun(1000, {});
    const project = await storeRuns(owner, "mine", [run]);
    const other = await storeRuns(owner, "also mine", [makeRun(1000, {})]);
    const { share } = owner.client.runs;
    const ids = { session_id: project, trace_id: run.id };
    for (const attempt of [
      () => stranger.client.runs.share.create(run.id, ids),
      () => share.create(run.id, { session_id: other, trace_id: run.id }),
      () => share.create(run.id, { session_id: project, trace_id: MISSING_ID }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 404 });
    }
    const { share_token: token = "" } = await share.create(run.id, ids);
    await stranger.client.runs.share.delete(run.id, { session_id: project });
    expect(await owner.client.public.runs.query(token, {})).toEqual({ items: [{ id: run.id }] });
  });
});
