import { Client } from "@langchain/langgraph-sdk";
import { describe, onTestFinished, test } from "vitest";
import { createKey, createWorkspace } from "../../cli/database/identity.ts";
import { signCall } from "../../src/secrets/signed-call.ts";
import { answerOf, send } from "../support/http.ts";
import { deployTemplate } from "../support/deployments.ts";
import { destinationBody } from "../support/destinations.ts";
import { createDestination, endedExport } from "../support/bulk-exports.ts";
import { runPart, ingestWorkspace } from "../support/ingest.ts";
import { ask } from "../support/stored-runs.ts";
import { runData } from "../support/trace-data.ts";
import {
  filesWith,
  REGION_SECRET,
  type RegionServer,
  startRegions,
} from "../support/two-regions.ts";

const TIMEOUT_MS = 300_000;

async function newRegions() {
  const regions = await startRegions();
  onTestFinished(() => regions.remove());
  return regions;
}

async function newWorkspace({ database }: RegionServer, plan: string) {
  const { id } = await createWorkspace(database, `a workspace of ${plan}`, plan);
  const { key } = await createKey(database, { workspaceId: String(id), name: "test" });
  return { id: String(id), apiKey: String(key) };
}

/** Puts a text into everything that a region stores: agents, traces, exports, OAuth. */
async function leave(server: RegionServer, text: string): Promise<void> {
  const workspace = await ingestWorkspace(server, `workspace ${text}`);
  const { apiKey } = workspace;
  const client = server.client({ apiKey });
  const { assistant_id } = await client.assistants.create({
    graphId: "appender",
    metadata: { text },
  });
  const { thread_id } = await client.threads.create({ metadata: { text } });
  await client.runs.wait(thread_id, assistant_id, {
    input: { messages: [{ role: "user", content: text }] },
    metadata: { text },
  });
  const operations = [{ op: "put", namespace: ["notes"], key: "one", value: { text } }];
  await client.runs.wait(null, "store", { input: { operations } });

  const agent = await deployTemplate(
    {
      ...workspace,
      call: (method, path, body) =>
        send(server, method, `/v2${path}`, body, { "x-api-key": apiKey }),
    },
    text,
  );
  const deployed = new Client({ apiUrl: agent, apiKey });
  await deployed.threads.create({ metadata: { text } });

  const project = `project ${text}`;
  const run = runData(project, { inputs: { text, long: "x".repeat(100_000) }, tags: [text] });
  const file = { name: `attachment.${run.id}.note`, body: text, contentType: "text/plain" };
  await workspace.multipart([runPart(run), file]);
  await ask(workspace, "POST", "/feedback", { run_id: run.id, key: "liked", comment: text });
  const [{ id: session_id } = { id: "" }] = await ask<{ id: string }[]>(
    workspace,
    "GET",
    `/sessions?name=${encodeURIComponent(project)}`,
  );
  const made = await ask<{ id: string }>(workspace, "POST", "/bulk-exports", {
    bulk_export_destination_id: await createDestination(workspace, server.s3),
    session_id,
    start_time: new Date(Date.now() - 86_400_000).toISOString(),
    end_time: new Date(Date.now() + 86_400_000).toISOString(),
  });
  await endedExport(workspace, made.id);
  await send(
    server,
    "POST",
    "/v2/auth/providers",
    {
      provider_id: "notes",
      name: text,
      client_id: text,
      client_secret: text,
      auth_url: "https://notes.example/auth",
      token_url: "https://notes.example/token",
    },
    { "x-api-key": apiKey },
  );
}

/** Returns the storage kinds of a local platform's files, which are at v3/<kind>/... */
const kindsOf = (files: string[]) =>
  [...new Set(files.map((file) => file.split("/")[1]))].toSorted();

describe("two regions side by side", () => {
  test("share no data", { timeout: TIMEOUT_MS }, async ({ expect }) => {
    const { us, eu } = await newRegions();
    const texts = { us: `america${crypto.randomUUID()}`, eu: `europe${crypto.randomUUID()}` };
    await Promise.all([leave(us, texts.us), leave(eu, texts.eu)]);
    expect(await eu.database.run("SELECT * FROM billing_plans")).toEqual([]);
    // The files are complete when their writers have ended.
    await us.close();
    await eu.close();

    expect(kindsOf(filesWith(us.stateDir, texts.us))).toEqual(["d1", "do", "r2"]);
    expect(kindsOf(filesWith(eu.stateDir, texts.eu))).toEqual(["d1", "do", "r2"]);
    expect(filesWith(us.stateDir, texts.eu)).toEqual([]);
    expect(filesWith(eu.stateDir, texts.us)).toEqual([]);
  });

  test(
    "recognise each other's keys, and share plans",
    { timeout: TIMEOUT_MS },
    async ({ expect }) => {
      const { us, eu } = await newRegions();
      const american = await newWorkspace(us, "plus");
      const european = await newWorkspace(eu, "plus");
      const poor = await newWorkspace(eu, "developer");
      const list = (server: RegionServer, apiKey: string, path = "/api/v1/sessions") =>
        answerOf(send(server, "GET", path, undefined, { "x-api-key": apiKey }));
      const connect = (server: RegionServer, apiKey: string) =>
        answerOf(
          send(
            server,
            "POST",
            "/api/v1/bulk-exports/destinations",
            destinationBody({ url: server.s3.endpoint, ...server.s3 }),
            { "x-api-key": apiKey },
          ),
        );

      expect((await list(us, american.apiKey)).status).toBe(200);
      expect((await list(eu, european.apiKey)).status).toBe(200);
      const elsewhere = (region: string, host: string) => ({
        status: 401,
        body: { detail: `This API key is of the ${region} region: use https://${host}` },
      });
      for (const path of ["/api/v1/sessions", "/v2/auth/providers", "/threads/x/state"]) {
        expect(await list(us, european.apiKey, path)).toEqual(elsewhere("EU", "eu.api.test"));
        expect(await list(eu, american.apiKey, path)).toEqual(elsewhere("US", "api.test"));
      }

      expect((await connect(eu, european.apiKey)).status).toBe(200);
      const refused = {
        status: 403,
        body: { detail: "Bulk export needs the plan Plus or Enterprise" },
      };
      expect(await connect(eu, poor.apiKey)).toEqual(refused);

      const path = `/api/v1/internal/plans/${european.id}`;
      const call = { method: "GET", url: us.url + path };
      const signed = await signCall(REGION_SECRET, call, Date.now());
      const asked = (server: RegionServer, headers: Record<string, string>, to = path) =>
        answerOf(send(server, "GET", to, undefined, headers));
      expect(await asked(us, signed)).toEqual({
        status: 200,
        body: { workspace_id: european.id, plan: "plus" },
      });
      expect((await asked(us, signed, `/api/v1/internal/plans/${poor.id}`)).status).toBe(401);
      expect((await asked(us, {})).status).toBe(401);
      expect((await asked(us, { "x-api-key": american.apiKey })).status).toBe(401);
      const old = await signCall(REGION_SECRET, call, Date.now() - 61_000);
      expect((await asked(us, old)).status).toBe(401);
      expect((await asked(eu, signed)).status).toBe(404);

      // Cached plans stay in use, and unknown ones count as the lowest plan.
      const later = await newWorkspace(eu, "plus");
      await us.close();
      expect((await connect(eu, european.apiKey)).status).toBe(200);
      expect(await connect(eu, later.apiKey)).toEqual(refused);
      expect((await list(eu, later.apiKey)).status).toBe(200);
    },
  );
});
