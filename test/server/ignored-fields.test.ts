import { describe } from "vitest";
import { send, toAnswer } from "../support/http.ts";
import { ACCEPTED, fieldPart, ingestWorkspace, runPart } from "../support/ingest.ts";
import { multipartBody } from "../support/multipart.ts";
import { collect } from "../support/run-events.ts";
import { sampleOf, type Schema, type Schemas } from "../support/sample-body.ts";
import type { TestServer } from "../support/server.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { fill } from "../support/tenancy.ts";
import { runData } from "../support/trace-data.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testInWorkspace();

const HEADER = "x-ignored-fields";

const NAME = "no_such_member";

type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};

type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Schemas };
};

async function documentOf(server: TestServer): Promise<Document> {
  return (await (await server.fetch("/openapi.json")).json()) as Document;
}

/** Replaces every id in a path by one that does not exist. */
function anyId(path: string): string {
  const names = path.match(/(?<=\{)\w+/g) ?? [];
  const isText = (name: string) => /token|namespace|provider|graph|auth/.test(name);
  return fill(
    path,
    Object.fromEntries(
      names.map((name) => [
        name,
        isText(name) && name !== "share_token" && name !== "token_id" ? "nothing" : MISSING_ID,
      ]),
    ),
  );
}

describe("an unknown member", () => {
  test("is ignored by every route, wherever it is, and named in the answer", async ({
    server,
    expect,
  }) => {
    const { apiKey } = await ingestWorkspace(server, "unknown members");
    const { paths, components } = await documentOf(server);
    let bodies = 0;
    let nested = 0;
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
        const query = new URLSearchParams([[NAME, "1"]]);
        for (const { name, in: place, required = false, schema } of parameters) {
          if (place !== "query" || !required) continue;
          query.set(name, String([sampleOf(schema, components.schemas).value].flat()[0]));
        }
        const expected = [NAME];
        const schema = requestBody?.content["application/json"]?.schema;
        const { value, objects } =
          schema === undefined
            ? { value: undefined, objects: [] }
            : sampleOf(schema, components.schemas);
        for (const each of objects) {
          each.value[NAME] = { of: "any kind" };
          expected.push(each.path + NAME);
        }
        if (objects.length > 0) bodies += 1;
        if (objects.length > 1) nested += 1;
        const response = await server.fetch(`${anyId(path)}?${query}`, {
          method: method.toUpperCase(),
          headers: { "content-type": "application/json", "x-api-key": apiKey },
          redirect: "manual",
          ...(value === undefined ? {} : { body: JSON.stringify(value) }),
        });
        const named = (response.headers.get(HEADER) ?? "").split(", ");
        const text = await response.text();
        expect([method, path, response.status < 500, new Set(named), text]).toEqual([
          method,
          path,
          true,
          new Set(expected),
          expect.not.stringContaining(NAME),
        ]);
      }
    }
    // Fewer would mean that the document did not describe the bodies.
    expect([bodies > 60, nested > 20]).toEqual([true, true]);
  });

  test("is not forbidden by the API's document", async ({ server, expect }) => {
    const text = await (await server.fetch("/openapi.json")).text();
    expect(text).not.toContain('"additionalProperties":false');
  });

  test("is not stored with a thread, a run or its config", async ({ server, client, expect }) => {
    const created = await send(server, "POST", "/threads", { colour: "red", metadata: { a: 1 } });
    expect(created.headers.get(HEADER)).toBe("colour");
    const { thread_id } = created.body as { thread_id: string };
    const run = await send(server, "POST", `/threads/${thread_id}/runs/wait`, {
      assistant_id: "configurable",
      input: {},
      colour: "red",
      config: { callbacks: [], configurable: { any: { thing: 1 } } },
      metadata: { any: { thing: 1 } },
    });
    expect(run.headers.get(HEADER)).toBe("config.callbacks, colour");
    expect(run.body).toMatchObject({
      seen: { configurable: { any: { thing: 1 } }, metadata: { any: { thing: 1 } } },
    });
    const [stored] = await client.runs.list(thread_id);
    const everything = JSON.stringify([await client.threads.get(thread_id), stored, run.body]);
    expect(everything).not.toMatch(/colour|callbacks/);
  });

  test("is ignored in a run's stream, as SDKs send it when they join", async ({
    server,
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "branching", {
      input: {},
      streamResumable: true,
    });
    await client.runs.join(thread_id, run.run_id);
    const path = `/threads/${thread_id}/runs/${run.run_id}/stream`;
    const joined = await send(server, "GET", `${path}?checkpoint_id=x&namespace=y`, undefined, {
      "last-event-id": "-1",
    });
    expect([joined.status, joined.headers.get(HEADER)]).toEqual([200, "checkpoint_id, namespace"]);
    expect(joined.headers.get("location")).toBe(path);
    expect(joined.body).toContain("event: values");
    const events = await collect(
      client.runs.joinStream(thread_id, run.run_id, { lastEventId: "-1" }),
    );
    expect(events.length).toBeGreaterThan(1);
  });

  test("is ignored in a query of traces", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "python");
    const run = runData("of python");
    await workspace.multipart([runPart(run)]);
    const response = await workspace.api("POST", "/runs/query", {
      trace: run.id,
      sesion_id: MISSING_ID,
    });
    expect([response.status, response.headers.get(HEADER)]).toEqual([200, "sesion_id"]);
    const { runs } = (await response.json()) as { runs: { id: string }[] };
    expect(runs.map(({ id }) => id)).toEqual([run.id]);
  });
});

describe("an unknown part of an ingest request", () => {
  test("is ignored, and named in the answer", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "ingest");
    const [a, b, c] = [runData("a"), runData("b"), runData("c")];
    const { body, contentType } = multipartBody([
      runPart(a),
      fieldPart(a, "manifest", "{}"),
      { name: "hello", body: "no JSON" },
      { name: `post.${b.id}`, body: JSON.stringify({ ...b, colour: 1 }) },
    ]);
    const headers = { "x-api-key": workspace.apiKey };
    const post = async (path: string, body: BodyInit, more: Record<string, string> = {}) => {
      const init = { method: "POST", body, headers: { ...headers, ...more } };
      const answer = await toAnswer(await server.fetch(`/api/v1/runs${path}`, init));
      return [{ status: answer.status, body: answer.body }, answer.headers.get(HEADER)];
    };
    expect(
      await post("/multipart?x=1", new Uint8Array(body), { "content-type": contentType }),
    ).toEqual([ACCEPTED, "x, post[].manifest, hello, post[].colour"]);
    const batch = JSON.stringify({ runs: [a], patch: [{ ...a, size: 1 }] });
    expect(await post("/batch", batch)).toEqual([ACCEPTED, "runs, patch[].size"]);
    expect(await post("", JSON.stringify({ ...c, colour: 1 }))).toEqual([ACCEPTED, "colour"]);
    expect(await workspace.stored([a, b, c])).toEqual([a.id, b.id, c.id]);
  });
});

describe("a request to join a missing stream", () => {
  test("is answered with a 404, without a location", async ({ server, client, expect }) => {
    const { thread_id } = await client.threads.create();
    for (const path of [
      `/threads/${thread_id}/runs/${MISSING_ID}/stream`,
      `/threads/${MISSING_ID}/runs/${MISSING_ID}/stream`,
      `/threads/${thread_id}/runs/${MISSING_ID}/stream?cancel_on_disconnect=1`,
      `/runs/${MISSING_ID}/stream`,
    ]) {
      const { status, headers } = await send(server, "GET", path);
      const locations = [headers.get("location"), headers.get("content-location")];
      expect([path, status, ...locations]).toEqual([path, 404, null, null]);
    }
  });
});
