import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe } from "vitest";
import { createKey, createWorkspace } from "../../cli/database/identity.ts";
import { destinationBody } from "../support/destinations.ts";
import { type Answer, answerOf, send } from "../support/http.ts";
import { startS3Server } from "../support/s3-server.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const PATH = "/api/v1/bulk-exports/destinations";

type Destination = {
  id: string;
  tenant_id: string;
  display_name: string;
  credentials_keys: string[];
  updated_at: string;
};

type Call = (method: string, path?: string, body?: unknown) => Promise<Answer>;

type Tenant = { id: string; call: Call };

const test = testWithSharedServer()
  .extend("s3", { scope: "file" }, async ({ vars }, { onCleanup }) => {
    void vars;
    const s3 = await startS3Server();
    onCleanup(() => s3.close());
    return s3;
  })
  .extend("tenant", async ({ server }): Promise<Tenant> => newTenant(server));

async function newTenant(server: TestServer): Promise<Tenant> {
  const { id, apiKey } = await makeWorkspace(server, "destinations");
  return { id, call: caller(server, apiKey) };
}

function caller(server: TestServer, apiKey: string): Call {
  return (method, path = "", body) =>
    send(server, method, `${PATH}${path}`, body, { "x-api-key": apiKey });
}

/** Returns the bucket that comes with the server, which checks signatures. */
function localBucket(server: TestServer): Parameters<typeof destinationBody>[0] {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = server.s3;
  return { url: endpoint, bucket, accessKeyId, secretAccessKey };
}

async function create(
  call: Call,
  s3: Parameters<typeof destinationBody>[0],
  change: Parameters<typeof destinationBody>[1] = {},
): Promise<Destination> {
  const { status, body } = await call("POST", "", destinationBody(s3, change));
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body as Destination;
}

async function list(call: Call, query = ""): Promise<Destination[]> {
  const { status, body } = await call("GET", query);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body as Destination[];
}

function storedCredentials(server: TestServer, destinationId: string) {
  return server.database.run(
    "SELECT version, sealed, key_version, names FROM export_credentials WHERE destination_id = ?",
    [destinationId],
  );
}

/** Inserts an export with the columns that destinations read. */
async function insertExport(
  server: TestServer,
  { tenant, destinationId, status }: { tenant: Tenant; destinationId: string; status: string },
): Promise<string> {
  const id = crypto.randomUUID();
  await server.database.run(
    `INSERT INTO bulk_exports (id, workspace_id, destination_id, project_id, start_time,
       format_version, compression, status, created_at, updated_at)
     VALUES (?, ?, ?, ?, 0, 'v1', 'gzip', ?, 0, 0)`,
    [id, tenant.id, destinationId, MISSING_ID, status],
  );
  return id;
}

describe("creating a destination", () => {
  test("answers with all but the secrets", async ({ server, s3, tenant, expect }) => {
    const body = destinationBody(s3, {
      display_name: "It's our_bucket - 1",
      config: { prefix: "/a b/c=d/", region: "eu-central-1" },
      credentials: { session_token: "the-token" },
    });
    const created = await tenant.call("POST", "", body);
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      id: expect.stringMatching(UUID),
      tenant_id: tenant.id,
      destination_type: "s3",
      display_name: "It's our_bucket - 1",
      config: {
        bucket_name: s3.bucket,
        prefix: "a b/c=d",
        region: "eu-central-1",
        endpoint_url: s3.url,
        include_bucket_in_prefix: true,
      },
      credentials_keys: ["access_key_id", "secret_access_key", "session_token"],
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
    });
    const { id } = created.body as Destination;
    const read = await tenant.call("GET", `/${id}`);
    expect([read.status, read.body]).toEqual([200, created.body]);
    expect(await storedCredentials(server, id)).toEqual([
      {
        version: 1,
        sealed: expect.stringMatching(/^1\.[A-Za-z0-9_-]{100,}$/),
        key_version: 1,
        names: '["access_key_id","secret_access_key","session_token"]',
      },
    ]);
  });

  test("leaves no test file behind", async ({ s3, tenant, expect }) => {
    await create(tenant.call, s3, { config: { prefix: "clean" } });
    expect(await s3.list("clean")).toEqual([]);
  });

  test("takes an endpoint that belongs to the bucket", async ({ s3, tenant, expect }) => {
    const config = { endpoint_url: `${s3.url}/${s3.bucket}`, include_bucket_in_prefix: false };
    const created = await create(tenant.call, s3, { config });
    expect(created).toMatchObject({ config });
  });

  test("signs a prefix in the encoding that the server reads", async ({
    server,
    tenant,
    expect,
  }) => {
    const prefix = "a=1/reserved !'()*&+,;:@$~[]{}|^`\"<>#?%25\\/ünïcödé 日本";
    const created = await tenant.call(
      "POST",
      "",
      destinationBody(localBucket(server), { config: { prefix } }),
    );
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({ config: { prefix } });
  });

  test("needs a plan with exports, but reading does not", async ({ server, s3, expect }) => {
    const workspace = await createWorkspace(server.database, "small", "developer");
    const workspaceId = String(workspace["id"]);
    const { key } = await createKey(server.database, { workspaceId, name: "small" });
    const call = caller(server, String(key));
    const refused = {
      status: 403,
      body: { detail: "Bulk export needs the plan Plus or Enterprise" },
    };
    const path = `/${MISSING_ID}`;
    const { credentials } = destinationBody(s3);
    expect(await answerOf(call("POST", "", destinationBody(s3)))).toEqual(refused);
    expect(await answerOf(call("PATCH", path, { credentials }))).toEqual(refused);
    expect(await answerOf(call("DELETE", path))).toEqual(refused);
    expect(await answerOf(call("GET"))).toEqual({ status: 200, body: [] });
  });
});

describe("a destination that cannot be written to", () => {
  test.for([
    [
      "an unknown key",
      { credentials: { access_key_id: "NOBODY" } },
      /: InvalidAccessKeyId: .*: Key ID you provided does not exist$/,
    ],
    [
      "a missing bucket",
      { config: { bucket_name: "nowhere" } },
      /: NoSuchBucket: The specified bucket does not exist: Bucket is not valid$/,
    ],
  ] as const)("is refused because of %s", async ([, change, detail], { s3, tenant, expect }) => {
    const answer = await answerOf(tenant.call("POST", "", destinationBody(s3, change)));
    expect(answer).toEqual({ status: 400, body: { detail: expect.stringMatching(detail) } });
    expect(JSON.stringify(answer.body)).toMatch(/Failed to validate S3 destination: /);
    expect(await list(tenant.call)).toEqual([]);
  });

  test.for([
    [
      "an unknown key",
      { credentials: { access_key_id: "nobody" } },
      "Unauthorized: Unauthorized: Key ID you provided does not exist",
    ],
    [
      "a missing bucket",
      { config: { bucket_name: "nowhere" } },
      "NoSuchBucket: The specified bucket does not exist: Bucket is not valid",
    ],
  ] as const)(
    "is refused by the local server because of %s",
    async ([, change, text], { server, tenant, expect }) => {
      const body = destinationBody(localBucket(server), change);
      expect(await answerOf(tenant.call("POST", "", body))).toEqual({
        status: 400,
        body: { detail: `Failed to validate S3 destination: ${text}` },
      });
    },
  );

  test("is refused because of a wrong secret", async ({ server, tenant, expect }) => {
    const wrong = { credentials: { secret_access_key: "wrong" } };
    const body = destinationBody(localBucket(server), wrong);
    const answer = await answerOf(tenant.call("POST", "", body));
    expect(answer).toEqual({
      status: 400,
      body: {
        detail: expect.stringMatching(
          /^Failed to validate S3 destination: SignatureDoesNotMatch: .*: Access denied$/,
        ),
      },
    });
  });

  test("is refused because its endpoint is a web server", async ({
    s3,
    tenant,
    expect,
    onTestFinished,
  }) => {
    const web = createServer((request, response) => {
      request.resume();
      request.on("end", () => response.writeHead(404).end("<html>Not found</html>"));
    });
    await new Promise<void>((resolve) => void web.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void web.close());
    const config = { endpoint_url: `http://127.0.0.1:${(web.address() as AddressInfo).port}` };
    expect(await answerOf(tenant.call("POST", "", destinationBody(s3, { config })))).toEqual({
      status: 400,
      body: {
        detail:
          "Failed to validate S3 destination: HTTP 404 and a body that is not S3's: Invalid endpoint",
      },
    });
  });

  test("is refused because its endpoint does not answer", async ({ s3, tenant, expect }) => {
    const gone = await startS3Server();
    await gone.close();
    const answer = await tenant.call("POST", "", destinationBody({ ...s3, url: gone.url }));
    expect(answer.status).toBe(400);
    expect((answer.body as { detail: string }).detail).toMatch(
      /^Failed to validate S3 destination: .+: Invalid endpoint$/,
    );
  });
});

describe("a destination", () => {
  test.for<[what: string, change: (body: Record<string, unknown>) => void, loc: string[]]>([
    ["without a name", (body) => delete body["display_name"], ["display_name"]],
    ["with an odd name", (body) => (body["display_name"] = "a/b"), ["display_name"]],
    ["of another type", (body) => (body["destination_type"] = "gcs"), ["destination_type"]],
    ["without a config", (body) => delete body["config"], ["config"]],
    ["without a prefix", (body) => delete config(body)["prefix"], ["config", "prefix"]],
    ["with a bad prefix", (body) => (config(body)["prefix"] = "a/../b"), ["config", "prefix"]],
    ["without a bucket", (body) => delete config(body)["bucket_name"], ["config", "bucket_name"]],
    ["without a place", (body) => delete config(body)["endpoint_url"], ["config", "region"]],
    [
      "in no region of AWS",
      (body) => Object.assign(config(body), { endpoint_url: null, region: "auto" }),
      ["config", "region"],
    ],
    [
      "at no address",
      (body) => (config(body)["endpoint_url"] = "s3.example.com"),
      ["config", "endpoint_url"],
    ],
    [
      "with options of a client",
      (body) => (config(body)["config_kwargs_s3"] = {}),
      ["config", "config_kwargs_s3"],
    ],
    ["with a role", (body) => (body["aws_role_arn"] = "arn"), ["aws_role_arn"]],
    ["without credentials", (body) => delete body["credentials"], ["credentials"]],
    [
      "with half of the credentials",
      (body) => (body["credentials"] = { access_key_id: "id" }),
      ["credentials", "secret_access_key"],
    ],
    [
      "with a key id that no header can have",
      (body) => (body["credentials"] = { access_key_id: "a\nb", secret_access_key: "secret" }),
      ["credentials", "access_key_id"],
    ],
  ])("is refused when it is %s", async ([, change, loc], { s3, tenant, expect }) => {
    const body: Record<string, unknown> = destinationBody(s3);
    change(body);
    const answer = await tenant.call("POST", "", body);
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      detail: [{ loc: ["body", ...loc], msg: expect.any(String), type: expect.any(String) }],
    });
  });
});

function config(body: Record<string, unknown>): Record<string, unknown> {
  return body["config"] as Record<string, unknown>;
}

describe("listing destinations", () => {
  test("has the newest first, by pages", async ({ s3, tenant, expect }) => {
    for (const name of ["one", "two", "three"]) {
      await create(tenant.call, s3, { display_name: name });
    }
    const names = async (query = "") =>
      (await list(tenant.call, query)).map(({ display_name }) => display_name);
    expect(await names()).toEqual(["three", "two", "one"]);
    expect(await names("?limit=2")).toEqual(["three", "two"]);
    expect(await names("?limit=2&offset=2")).toEqual(["one"]);
    expect(await names("?offset=1")).toEqual(["two", "one"]);
    const { headers } = await tenant.call("GET", "?limit=2");
    expect(headers.get("x-pagination-total")).toBe("3");
    expect(headers.get("x-pagination-next")).toBe("2");
  });

  test("refuses an empty page", async ({ tenant, expect }) => {
    expect((await tenant.call("GET", "?limit=0")).status).toBe(422);
  });
});

describe("another workspace's destination", () => {
  test("does not exist for the caller", async ({ server, s3, tenant, expect }) => {
    const { id } = await create(tenant.call, s3);
    const { call } = await newTenant(server);
    const { credentials } = destinationBody(s3);
    expect(await list(call)).toEqual([]);
    for (const [method, body] of [["GET"], ["PATCH", { credentials }], ["DELETE"]] as const) {
      const missing = await answerOf(call(method, `/${MISSING_ID}`, body));
      expect(missing).toEqual({ status: 404, body: { detail: "Destination not found" } });
      expect(await answerOf(call(method, `/${id}`, body))).toEqual(missing);
    }
    expect((await list(tenant.call)).map((each) => each.id)).toEqual([id]);
  });
});

describe("replacing credentials", () => {
  test("creates a version that is current from then on", async ({ server, s3, tenant, expect }) => {
    const created = await create(tenant.call, s3);
    const { credentials } = destinationBody(s3, { credentials: { session_token: "token" } });
    const changed = await tenant.call("PATCH", `/${created.id}`, {
      credentials,
      display_name: "Renamed",
    });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...created,
      display_name: "Renamed",
      credentials_keys: ["access_key_id", "secret_access_key", "session_token"],
      updated_at: expect.stringMatching(ISO_TIME),
    });
    const read = await tenant.call("GET", `/${created.id}`);
    expect(read.body).toEqual(changed.body);
    const [row] = await server.database.run(
      "SELECT credentials_version FROM export_destinations WHERE id = ?",
      [created.id],
    );
    expect(row).toEqual({ credentials_version: 2 });
  });

  test("is refused when the new ones cannot write", async ({ server, tenant, expect }) => {
    const s3 = localBucket(server);
    const created = await create(tenant.call, s3);
    const { credentials } = destinationBody(s3, { credentials: { secret_access_key: "wrong" } });
    const answer = await tenant.call("PATCH", `/${created.id}`, { credentials });
    expect(answer.status).toBe(400);
    expect((answer.body as { detail: string }).detail).toMatch(
      /^Failed to validate S3 destination: SignatureDoesNotMatch: .*: Access denied$/,
    );
    expect((await tenant.call("GET", `/${created.id}`)).body).toEqual(created);
    expect(await storedCredentials(server, created.id)).toHaveLength(1);
  });

  test("accepts all of several concurrent ones, one after the other", async ({
    server,
    s3,
    tenant,
    expect,
  }) => {
    const { id } = await create(tenant.call, s3);
    const { credentials } = destinationBody(s3);
    const answers = await Promise.all(
      [1, 2, 3].map(() => tenant.call("PATCH", `/${id}`, { credentials })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [row] = await server.database.run(
      "SELECT credentials_version FROM export_destinations WHERE id = ?",
      [id],
    );
    expect(row).toEqual({ credentials_version: 4 });
    const versions = (await storedCredentials(server, id)).map((each) => each["version"]);
    expect(versions).toContain(4);
  });

  test("changes nothing else", async ({ s3, tenant, expect }) => {
    const { id } = await create(tenant.call, s3);
    const { credentials, config } = destinationBody(s3);
    const before = await tenant.call("GET", `/${id}`);
    const other = { ...config, prefix: "elsewhere" };
    const changed = await tenant.call("PATCH", `/${id}`, { credentials, config: other });
    expect(changed.headers.get("x-ignored-fields")).toBe("config");
    const { config: kept } = before.body as { config: unknown };
    expect((await tenant.call("GET", `/${id}`)).body).toMatchObject({ config: kept });
    const without = await tenant.call("PATCH", `/${id}`, { display_name: "Renamed" });
    expect(without.body).toEqual({
      detail: [{ loc: ["body", "credentials"], msg: "Field required", type: "missing" }],
    });
  });
});

describe("deleting a destination", () => {
  test("removes its credentials", async ({ server, s3, tenant, expect }) => {
    const { id } = await create(tenant.call, s3);
    expect(await answerOf(tenant.call("DELETE", `/${id}`))).toEqual({ status: 200, body: {} });
    expect(await list(tenant.call)).toEqual([]);
    expect((await tenant.call("GET", `/${id}`)).status).toBe(404);
    expect((await tenant.call("DELETE", `/${id}`)).status).toBe(404);
    expect(await storedCredentials(server, id)).toEqual([]);
  });

  test.for(["CREATED", "RUNNING"])(
    "waits for exports that are %s",
    async (status, { server, s3, tenant, expect }) => {
      const { id } = await create(tenant.call, s3);
      const exportId = await insertExport(server, { tenant, destinationId: id, status });
      expect(await answerOf(tenant.call("DELETE", `/${id}`))).toEqual({
        status: 409,
        body: { detail: "Exports that have not ended use the destination: cancel them" },
      });
      expect(await storedCredentials(server, id)).toHaveLength(1);
      await server.database.run("UPDATE bulk_exports SET status = 'CANCELLED' WHERE id = ?", [
        exportId,
      ]);
      expect((await tenant.call("DELETE", `/${id}`)).status).toBe(200);
    },
  );
});
