import { createHmac } from "node:crypto";
import { describe } from "vitest";
import { MAX_TARBALL_BYTES } from "../../src/lib/project-manifest.ts";
import {
  createDeployment,
  newDeployer,
  newUpload,
  put,
  sourceBody,
  tarball,
  uploaded,
} from "../support/deployments.ts";
import { testWithServer, type WorkerServer } from "../support/server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const SIGNING_SECRET = "a secret that signs upload URLs";

const test = testWithServer({ SIGNING_SECRET }, "project", { rollouts: false }).extend(
  "deployer",
  { scope: "file" },
  ({ server }) => newDeployer(server),
);

type Bucket = { get: (key: string) => Promise<{ arrayBuffer: () => Promise<ArrayBuffer> } | null> };

/** Returns the stored object, or null if there is none. */
async function storedAt({ bindings }: WorkerServer, path: string): Promise<Buffer | null> {
  const { SOURCES }: { SOURCES: Bucket } = (await bindings()) as { SOURCES: Bucket };
  const object = await SOURCES.get(path);
  return object === null ? null : Buffer.from(await object.arrayBuffer());
}

/** Returns a token like those of the server. */
function signed(purpose: string, value: object): string {
  const body = Buffer.from(JSON.stringify(value)).toString("base64url");
  const signature = createHmac("sha256", SIGNING_SECRET).update(`${purpose}\n${body}`);
  return `${body}.${signature.digest("base64url")}`;
}

const INVALID = [403, { detail: "This link is not valid, or has expired" }];

describe("an upload URL", () => {
  test("accepts a tarball without a key, before a deployment exists", async ({
    server,
    deployer,
    expect,
  }) => {
    const { url, path } = await newUpload(deployer);
    expect(path).toMatch(new RegExp(`^${deployer.id}/uploads/[0-9a-f-]{36}\\.tar\\.gz$`));
    expect(url.startsWith(`${server.url}/v2/uploads/`)).toBe(true);
    const answer = await put(url, tarball("one"), { "x-goog-content-length-range": "0,209715200" });
    expect([answer.status, answer.body]).toEqual([200, ""]);
    expect(await storedAt(server, path)).toEqual(tarball("one"));
    const created = await createDeployment(deployer, sourceBody("first", path));
    expect(created.source_revision_config).toMatchObject({ source_tarball_path: path });
  });

  test("is also given for a deployment", async ({ deployer, expect }) => {
    const { id } = await createDeployment(deployer, sourceBody("second", null));
    const { status, body } = await deployer.call("POST", `/deployments/${id}/upload-url`);
    expect([status, Object.keys(body as object)]).toEqual([200, ["upload_url", "object_path"]]);
    const missing = await deployer.call("POST", `/deployments/${MISSING_ID}/upload-url`);
    expect([missing.status, missing.body]).toEqual([
      404,
      { detail: `Deployment ID ${MISSING_ID} not found.` },
    ]);
  });

  test("accepts one tarball, as often as it is sent", async ({ server, deployer, expect }) => {
    const { url, path } = await newUpload(deployer);
    for (let count = 0; count < 2; count += 1) {
      expect((await put(url, tarball("one"))).status).toBe(200);
    }
    const other = await put(url, tarball("two"));
    expect([other.status, other.body]).toEqual([
      409,
      { detail: "A tarball was uploaded here already: ask for another upload URL" },
    ]);
    expect(await storedAt(server, path)).toEqual(tarball("one"));
  });

  test("accepts no more bytes than a tarball may have", async ({ server, deployer, expect }) => {
    const { url, path } = await newUpload(deployer);
    const large = Buffer.alloc(MAX_TARBALL_BYTES + 1);
    tarball("").copy(large);
    const answer = await put(url, large);
    expect([answer.status, answer.body]).toEqual([
      413,
      { detail: `Request body is larger than ${MAX_TARBALL_BYTES} bytes` },
    ]);
    expect(await storedAt(server, path)).toBeNull();
    expect((await put(url, large.subarray(0, MAX_TARBALL_BYTES))).status).toBe(200);
  });

  test.for([
    ["text", "not gzip", {}, "The body is not a gzip file: send a .tar.gz"],
    ["nothing", "", {}, "The body is not a gzip file: send a .tar.gz"],
    [
      "more than its declared length",
      null,
      { "x-goog-content-length-range": "0,10" },
      "not within",
    ],
    [
      "less than its declared length",
      null,
      { "x-goog-content-length-range": "1000,2000" },
      "not within",
    ],
    ["an invalid bound", null, { "x-goog-content-length-range": "10" }, "two numbers"],
  ] as const)("does not accept %s", async ([, body, headers, text], { deployer, expect }) => {
    const { url } = await newUpload(deployer);
    const answer = await put(url, body ?? tarball("one"), headers);
    expect([answer.status, answer.body]).toEqual([400, { detail: expect.stringContaining(text) }]);
  });

  test("is one of at most a hundred that wait for their tarball", async ({ server, expect }) => {
    const deployer = await newDeployer(server);
    const path = await uploaded(deployer);
    const paths = Array.from({ length: 99 }, (_, index) => `waiting-${index}`);
    await server.database.run(
      `INSERT INTO source_uploads (workspace_id, object_path, created_at)
       SELECT ?, value, 1 FROM json_each(?)`,
      [deployer.id, JSON.stringify(paths)],
    );
    const refused = await deployer.call("POST", "/deployments/upload-url");
    expect([refused.status, refused.body]).toEqual([
      429,
      {
        detail: "The workspace has 100 uploads that no revision names: deploy them, or wait a day",
      },
    ]);
    await createDeployment(deployer, sourceBody("fifth", path));
    expect((await newUpload(deployer)).path).not.toBe(path);
  });

  test("is invalid after any change", async ({ server, deployer, expect }) => {
    const before = Date.now();
    const { url } = await newUpload(deployer);
    const after = Date.now();
    const [body = "", signature = ""] = url.slice(url.lastIndexOf("/") + 1).split(".");
    const grant = JSON.parse(Buffer.from(body, "base64url").toString()) as { expiresAt: number };
    expect(grant.expiresAt - 3_600_000).toBeGreaterThanOrEqual(before);
    expect(grant.expiresAt - 3_600_000).toBeLessThanOrEqual(after);
    const changed = Buffer.from(JSON.stringify({ ...grant, expiresAt: Infinity }));
    for (const token of ["x", `${body}.`, `${changed.toString("base64url")}.${signature}`]) {
      const answer = await put(`${server.url}/v2/uploads/${token}`, tarball("one"));
      expect([answer.status, answer.body]).toEqual(INVALID);
    }
    const get = await deployer.call("GET", new URL(url).pathname.replace("/v2", ""));
    expect(get.status).toBe(405);
  });

  test("is valid for an hour, and for uploads only", async ({ server, deployer, expect }) => {
    const { url, path } = await newUpload(deployer);
    const grant = { workspaceId: deployer.id, objectPath: path };
    const good = signed("source-upload", { ...grant, expiresAt: Date.now() + 60_000 });
    expect((await put(`${server.url}/v2/uploads/${good}`, tarball("one"))).status).toBe(200);
    for (const [purpose, expiresAt] of [
      ["source-upload", Date.now() - 1],
      ["attachment", Date.now() + 60_000],
    ] as const) {
      const token = signed(purpose, { ...grant, expiresAt });
      const answer = await put(`${server.url}/v2/uploads/${token}`, tarball("one"));
      expect([answer.status, answer.body]).toEqual(INVALID);
    }
    const attachment = url.replace("/v2/uploads/", "/api/v1/attachments/");
    expect((await fetch(attachment)).status).toBe(403);
  });

  test("is invalid when no deployment waits for the tarball any more", async ({
    server,
    deployer,
    expect,
  }) => {
    const { url, path } = await newUpload(deployer);
    await server.database.run("DELETE FROM source_uploads WHERE object_path = ?", [path]);
    const answer = await put(url, tarball("one"));
    expect([answer.status, answer.body]).toEqual([
      404,
      { detail: "This upload is not expected any more: request another upload URL" },
    ]);
    expect(await storedAt(server, path)).toBeNull();
  });
});

test("a tarball can be deployed more than once", async ({ deployer, expect }) => {
  const path = await uploaded(deployer);
  for (const name of ["third", "fourth"]) {
    const created = await createDeployment(deployer, sourceBody(name, path));
    expect(created.source_revision_config).toMatchObject({ source_tarball_path: path });
  }
});
