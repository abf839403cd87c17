import { describe, onTestFinished, vi } from "vitest";
import { listKeys, readObject } from "../support/bucket-files.ts";
import {
  createDestination,
  createExport,
  endedExport,
  exportedRows,
  exportFolder,
  filesOf,
} from "../support/bulk-exports.ts";
import { DAY_US, daysAgo, isoTime, plainRuns, runAt, store } from "../support/export-data.ts";
import {
  type Fault,
  type FaultProxy,
  type FaultScript,
  type ProxiedRequest,
  startFaultProxy,
} from "../support/fault-proxy.ts";
import { ingestWorkspace } from "../support/ingest.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import type { TestServer } from "../support/server.ts";
import { projectId } from "../support/stored-runs.ts";

const RETRIES = 2;
const ATTEMPTS = 2;
const DAYS = 2;
const RUN_TIMEOUT_SECONDS = 60;
const RUNS_PER_DAY = 12;
const MB = 1024 * 1024;

const test = testWithPlatform({
  EXPORT_LIMITS: {
    retries: RETRIES,
    retry_delay_seconds: 1,
    run_timeout_seconds: RUN_TIMEOUT_SECONDS,
    request_timeout_seconds: 6,
    request_attempts: ATTEMPTS,
    rows_per_file: 5,
    rows_per_group: 3,
    part_bytes: 5 * MB,
  },
});

/** Prepares an export of two days with three files each, through a scriptable proxy. */
async function faultyBucket(server: TestServer, name: string) {
  const workspace = await ingestWorkspace(server, name);
  const from = daysAgo(3);
  const everyUs = DAY_US / RUNS_PER_DAY;
  const runs = plainRuns("p", { from, count: DAYS * RUNS_PER_DAY, everyUs });
  await store(workspace, runs);
  const proxy = await startFaultProxy(server.s3);
  onTestFinished(() => proxy.close());
  const body = {
    bulk_export_destination_id: await createDestination(workspace, {
      ...server.s3,
      endpoint: proxy.endpoint,
    }),
    session_id: await projectId(workspace, "p"),
    start_time: isoTime(from),
    end_time: isoTime(from + DAYS * DAY_US),
  };
  return {
    workspace,
    proxy,
    runs,
    body,
    /** Runs the export from beginning to end, with the faults of the script. */
    run: async (script: FaultScript, change: object = {}) => {
      proxy.follow(script);
      const { id } = await createExport(workspace, { ...body, ...change });
      return endedExport(workspace, id);
    },
  };
}

type Bucket = Awaited<ReturnType<typeof faultyBucket>>;
type Ended = Awaited<ReturnType<Bucket["run"]>>;

/** Checks that each run is in the files once, as the API and the manifests say. Returns "whole", or what is wrong. */
async function isWhole(server: TestServer, { runs }: Bucket, ended: Ended): Promise<string> {
  if (ended.ended.status !== "COMPLETED") return `status ${ended.ended.status}`;
  const rows = await exportedRows(server.s3, ended.ended.id, { select: "id" });
  if (String(rows.map(({ id }) => id)) !== String(runs.map(({ id }) => id))) {
    return `${rows.length} rows: ${rows.map(({ id }) => id).join()}`;
  }
  const keys = await listKeys(server.s3, exportFolder(ended.ended.id));
  const objects = keys.filter((key) => key.endsWith(".parquet"));
  if (String(filesOf(ended.runs)) !== String(objects.map((key) => `${server.s3.bucket}/${key}`))) {
    return `files ${keys.join()}`;
  }
  for (const key of keys.filter((name) => name.endsWith("_manifest.json"))) {
    const manifest = await readJson(server, key);
    const { files } = manifest as { files: { name: string; bytes: number; rows: number }[] };
    for (const { name, bytes } of files) {
      const object = await readObject(server.s3, key.replace("_manifest.json", name));
      if (object.length !== bytes) return `${name} has ${object.length} bytes, not ${bytes}`;
    }
    const sum = files.reduce((total, file) => total + file.rows, 0);
    if (sum !== RUNS_PER_DAY) return `manifest of ${sum} rows`;
  }
  return "whole";
}

async function readJson(server: TestServer, key: string): Promise<Record<string, unknown>> {
  return JSON.parse(Buffer.from(await readObject(server.s3, key)).toString()) as Record<
    string,
    unknown
  >;
}

const isFile = ({ method, path }: ProxiedRequest): boolean =>
  method === "PUT" && path.includes(".parquet");

/** Applies the fault to the first requests that `isMeant` selects, and passes all others. */
function first(count: number, fault: Fault, isMeant = isFile): FaultScript {
  let left = count;
  return (request) => {
    if (left === 0 || !isMeant(request)) return undefined;
    left -= 1;
    return fault;
  };
}

type Transient = [what: string, fault: Fault, text: RegExp];

const TRANSIENT: Transient[] = [
  ["500", { kind: "answer", status: 500, code: "InternalError" }, /^InternalError: /],
  ["503 SlowDown", { kind: "answer", status: 503, code: "SlowDown" }, /^SlowDown: /],
  ["a reset in the request's body", { kind: "reset", during: "request" }, /^Connection failed: /],
  ["a reset in the answer", { kind: "reset", during: "response" }, /^Connection failed: /],
  ["an answer that is lost", { kind: "lose-answer" }, /^Connection failed: /],
];

describe("a request that fails", () => {
  const outcomeOf = async (server: TestServer, count: number, [what, fault]: Transient) => {
    const bucket = await faultyBucket(server, `${count} times ${what}`);
    const ended = await bucket.run(first(count, fault));
    const errors = ended.runs.map((run) => [run.retry_number, run.errors]);
    return [what, await isWhole(server, bucket, ended), errors];
  };

  test("is sent again after a single failure", async ({ server, expect }) => {
    const outcomes = await Promise.all(TRANSIENT.map((fault) => outcomeOf(server, 1, fault)));

    expect(outcomes).toEqual(
      TRANSIENT.map(([what]) => [
        what,
        "whole",
        [
          [0, null],
          [0, null],
        ],
      ]),
    );
  });

  test("costs an attempt after repeated failures", async ({ server, expect }) => {
    const outcomes = await Promise.all(
      TRANSIENT.map((fault) => outcomeOf(server, ATTEMPTS, fault)),
    );

    expect(outcomes).toEqual(
      TRANSIENT.map(([what, , text]) => [
        what,
        "whole",
        [
          [1, { retry_0: expect.stringMatching(text) }],
          [0, null],
        ],
      ]),
    );
  });

  test("counts as failed when it is not answered in time", async ({ server, expect }) => {
    const hang: Transient = ["no answer", { kind: "hang" }, /^No complete answer within \d+ ms$/];
    const [, , text] = hang;

    expect(await outcomeOf(server, 1, hang)).toEqual([
      "no answer",
      "whole",
      [
        [0, null],
        [0, null],
      ],
    ]);
    expect(await outcomeOf(server, ATTEMPTS, hang)).toEqual([
      "no answer",
      "whole",
      [
        [1, { retry_0: expect.stringMatching(text) }],
        [0, null],
      ],
    ]);
  });

  test("costs an attempt when the clock is skewed", async ({ server, expect }) => {
    const bucket = await faultyBucket(server, "clock");
    const fault: Fault = { kind: "answer", status: 403, code: "RequestTimeTooSkewed" };

    const ended = await bucket.run(first(1, fault));

    expect(await isWhole(server, bucket, ended)).toBe("whole");
    expect(ended.runs.map(({ errors }) => errors)).toContainEqual({
      retry_0: expect.stringMatching(/^RequestTimeTooSkewed: /),
    });
  });

  test("fails the export when it always fails, and stops its other runs", async ({
    server,
    expect,
  }) => {
    const bucket = await faultyBucket(server, "for ever");
    const fault: Fault = { kind: "answer", status: 500, code: "InternalError" };
    const ended = await bucket.run((request) =>
      isFile(request) && request.path.includes("runs-00001") ? fault : undefined,
    );

    expect(ended.ended.status).toBe("FAILED");
    expect(ended.runs.map(({ status }) => status)).toEqual(["FAILED", "CANCELLED"]);
    const error = "InternalError: InternalError by the tests";
    expect(ended.runs[0]?.errors).toEqual({ retry_0: error, retry_1: error, retry_2: error });
    // Finished files stay.
    const keys = await listKeys(server.s3, exportFolder(ended.ended.id));
    expect(keys.map((key) => key.split("/").at(-1))).toEqual([
      "runs-00000.parquet",
      "runs-00000.parquet",
    ]);
  });
});

describe("a refusal", () => {
  const cases: [code: string, status: number, text: RegExp][] = [
    ["AccessDenied", 403, /Access denied$/],
    ["SignatureDoesNotMatch", 403, /Access denied$/],
    ["InvalidAccessKeyId", 403, /Key ID you provided does not exist$/],
    ["NoSuchBucket", 404, /Bucket is not valid$/],
  ];
  test.for(cases)("is not retried: %s", async ([code, status, text], { server, expect }) => {
    const bucket = await faultyBucket(server, code);

    const ended = await bucket.run((request) =>
      isFile(request) ? { kind: "answer", status, code } : undefined,
    );

    expect(ended.ended.status).toBe("FAILED");
    expect(ended.runs.map((run) => [run.status, run.retry_number, run.errors])).toEqual([
      ["FAILED", 0, { retry_0: expect.stringMatching(text) }],
      ["CANCELLED", 0, null],
    ]);
    expect(bucket.proxy.requests.filter(isFile)).toHaveLength(1);
  });

  test("leaves no upload behind when it comes after some parts", async ({ server, expect }) => {
    const { bucket, day } = await largeRuns(server, "refused parts");
    const isLater = ({ method, path }: ProxiedRequest): boolean =>
      method === "PUT" && path.includes("partNumber=2");

    const ended = await bucket.run(
      (request) =>
        isLater(request) ? { kind: "answer", status: 403, code: "AccessDenied" } : undefined,
      { ...day, compression: "none" },
    );

    expect(ended.runs.map(({ errors }) => errors)).toEqual([
      { retry_0: expect.stringMatching(/Access denied$/) },
    ]);
    const aborted = uploadsOf(bucket.proxy, "DELETE");
    expect(aborted).toHaveLength(1);
    expect(uploadsOf(bucket.proxy, "PUT")).toEqual(aborted);
    expect(await listKeys(server.s3, exportFolder(ended.ended.id))).toEqual([]);
  });
});

describe("a multipart upload", () => {
  test.for<[what: string, fault: Fault, isMeant: (request: ProxiedRequest) => boolean]>([
    ["a part", { kind: "lose-answer" }, ({ path }) => path.includes("partNumber=1")],
    [
      "its completion",
      { kind: "lose-answer" },
      ({ method, path }) => method === "POST" && path.includes("uploadId="),
    ],
    [
      "its beginning",
      { kind: "lose-answer" },
      ({ method, path }) => method === "POST" && path.includes("uploads="),
    ],
  ])("survives a lost answer to %s", async ([what, fault, isMeant], { server, expect }) => {
    const { bucket, day, large } = await largeRuns(server, what);

    const ended = await bucket.run(first(1, fault, isMeant), { ...day, compression: "none" });

    expect(ended.runs.map(({ status, errors }) => [status, errors])).toEqual([["COMPLETED", null]]);
    const rows = await exportedRows(server.s3, ended.ended.id, { select: "id, inputs" });
    expect(rows.map(({ id }) => id)).toEqual(large.map(({ id }) => id));
    expect(rows.map(({ inputs }) => JSON.parse(String(inputs)))).toEqual(
      large.map(({ inputs }) => inputs),
    );
  });

  test("is aborted when its export is cancelled", async ({ server, expect }) => {
    const { bucket, day } = await largeRuns(server, "cancelled");
    const { workspace, proxy, body } = bucket;
    let cancelled: Promise<unknown> | undefined;
    let exportId: Promise<string> | undefined;
    proxy.follow(({ method, path }) => {
      if (method !== "PUT" || !path.includes("partNumber=2")) return undefined;
      cancelled ??= exportId?.then((id) =>
        workspace.api("PATCH", `/bulk-exports/${id}`, { status: "Cancelled" }),
      );
      return { kind: "hold", until: cancelled ?? Promise.resolve() };
    });
    exportId = createExport(workspace, { ...body, ...day, compression: "none" }).then(
      ({ id }) => id,
    );
    const id = await exportId;

    await vi.waitFor(() => expect(uploadsOf(proxy, "DELETE")).toHaveLength(1), {
      timeout: 150_000,
      interval: 20,
    });
    expect(uploadsOf(proxy, "DELETE")).toEqual(uploadsOf(proxy, "PUT"));
    await server.sweep();
    // The row is written after the bucket has answered that the upload is gone.
    const rows = () =>
      server.database.run("SELECT status, open_upload FROM export_runs WHERE export_id = ?", [id]);
    await expect.poll(rows).toEqual([{ status: "CANCELLED", open_upload: null }]);
    expect(await listKeys(server.s3, exportFolder(id))).toEqual([]);
  });
});

/** Prepares a bucket whose export of one more day has a file of several parts. */
async function largeRuns(server: TestServer, name: string) {
  const bucket = await faultyBucket(server, `large ${name}`);
  const from = daysAgo(1);
  const large = [1, 2, 3].map((index) =>
    runAt("p", from + index, { inputs: { text: String(index).repeat(4 * MB) } }),
  );
  await store(bucket.workspace, large);
  const day = { start_time: isoTime(from), end_time: isoTime(from + DAY_US) };
  return { bucket, day, large };
}

function uploadsOf({ requests }: FaultProxy, method: string): string[] {
  const ids = requests
    .filter((request) => request.method === method)
    .map(({ path }) => /uploadId=([^&]+)/.exec(path)?.[1]);
  return [...new Set(ids.filter((id) => id !== undefined))];
}

describe("a file", () => {
  test("is not counted when only a part of it arrived", async ({ server, expect }) => {
    const bucket = await faultyBucket(server, "truncated");

    const ended = await bucket.run(first(1, { kind: "truncate", bytes: 100 }));

    expect(await isWhole(server, bucket, ended)).toBe("whole");
    expect(ended.runs.map(({ errors }) => errors)).toContainEqual({
      retry_0: expect.stringMatching(/runs-00000\.parquet has 100 bytes in the bucket, but \d+ /),
    });
  });

  test("is taken as sent when its size may not be read", async ({ server, expect }) => {
    const bucket = await faultyBucket(server, "no reading");

    const ended = await bucket.run(({ method }) =>
      method === "HEAD" || method === "GET"
        ? { kind: "answer", status: 403, code: "AccessDenied" }
        : undefined,
    );

    expect(await isWhole(server, bucket, ended)).toBe("whole");
    expect(ended.runs.map(({ errors }) => errors)).toEqual([null, null]);
  });

  test("is written again when its size cannot be read", async ({ server, expect }) => {
    const bucket = await faultyBucket(server, "no size");
    const fault: Fault = { kind: "answer", status: 500, code: "InternalError" };

    const ended = await bucket.run(first(ATTEMPTS, fault, ({ method }) => method === "HEAD"));

    expect(await isWhole(server, bucket, ended)).toBe("whole");
    // The next attempt finds the file there, and keeps it.
    const writes = bucket.proxy.requests.filter(isFile).map(({ path }) => path);
    expect(writes).toHaveLength(new Set(writes).size);
  });

  test("is written before its manifest, which lists all files", async ({ server, expect }) => {
    const bucket = await faultyBucket(server, "manifest");
    const ended = await bucket.run(() => undefined, { format_version: "v2_beta" });

    const [run] = ended.runs;
    const folder = run?.metadata.result.export_path.slice(server.s3.bucket.length + 1) ?? "";
    const keys = await listKeys(server.s3, `${folder}/runs-`);
    const objects = await Promise.all(keys.map((key) => readObject(server.s3, key)));
    const starts = bucket.runs.slice(0, RUNS_PER_DAY).map(({ start_time }) => start_time);
    const files = [
      [0, 4],
      [5, 9],
      [10, 11],
    ].map(([from = 0, to = 0], index) => ({
      name: `runs-0000${index}.parquet`,
      rows: to - from + 1,
      bytes: objects[index]?.length,
      min_start_time: starts[from],
      max_start_time: starts[to],
    }));
    expect(await readJson(server, `${folder}/_manifest.json`)).toEqual({
      export_id: ended.ended.id,
      export_run_id: run?.id,
      tenant_id: bucket.workspace.id,
      session_id: bucket.body.session_id,
      format_version: "v2_beta",
      compression: "gzip",
      start_time: run?.start_time,
      end_time: run?.end_time,
      rows: RUNS_PER_DAY,
      bytes: objects.reduce((sum, { length }) => sum + length, 0),
      min_start_time: starts[0],
      max_start_time: starts.at(-1),
      files,
    });
    const written = bucket.proxy.requests
      .filter(({ method, path }) => method === "PUT" && path.includes(encoded(folder)))
      .map(({ path }) => path.split("/").at(-1));
    expect(written).toEqual([...files.map(({ name }) => name), "_manifest.json"]);
  });
});

describe("an attempt", () => {
  test("is followed by another one when it takes too long, which continues where it was", async ({
    server,
    expect,
  }) => {
    const bucket = await faultyBucket(server, "slow");
    let passed: Promise<unknown> | undefined;
    const ended = await bucket.run((request) => {
      if (!isFile(request) || passed !== undefined || !request.path.includes("runs-00001")) {
        return undefined;
      }
      // The time of the attempt runs out while it works on its second file.
      passed = server.database.run(
        "UPDATE export_runs SET attempt_started_at = attempt_started_at - ? WHERE workspace_id = ?",
        [RUN_TIMEOUT_SECONDS * 1000, bucket.workspace.id],
      );
      return { kind: "hold", until: passed };
    });

    expect(await isWhole(server, bucket, ended)).toBe("whole");
    const errors = ended.runs.flatMap((run) => Object.values(run.errors ?? {}));
    expect(new Set(errors)).toEqual(
      new Set([`The attempt took longer than ${RUN_TIMEOUT_SECONDS} seconds`]),
    );
    const written = bucket.proxy.requests.filter(isFile).map(({ path }) => path);
    expect(written).toHaveLength(new Set(written).size);
  });

  test("is followed at once by one with the newer key when its key is refused", async ({
    server,
    expect,
  }) => {
    const bucket = await faultyBucket(server, "rotated");
    const { accessKeyId, secretAccessKey } = server.s3;
    let rotated: Promise<unknown> | undefined;
    let isRefused = false;
    const ended = await bucket.run((request) => {
      if (!isFile(request)) return undefined;
      if (rotated === undefined) {
        // The key is replaced while the first file is being sent. The new key is new to us only: to the bucket it is
        // the same.
        rotated = bucket.workspace.api(
          "PATCH",
          `/bulk-exports/destinations/${bucket.body.bulk_export_destination_id}`,
          { credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey } },
        );
        return { kind: "hold", until: rotated };
      }
      // This is the second file of the day, which began with the key before.
      if (isRefused || !request.path.includes("runs-00001")) return undefined;
      isRefused = true;
      return { kind: "answer", status: 403, code: "InvalidAccessKeyId" };
    });

    expect(await isWhole(server, bucket, ended)).toBe("whole");
    const errors = ended.runs.flatMap((run) => Object.entries(run.errors ?? {}));
    expect(errors).toEqual([
      ["retry_0", expect.stringMatching(/: Key ID you provided does not exist$/)],
    ]);
  });

  test("is the last one when its destination is deleted", async ({ server, expect }) => {
    const bucket = await faultyBucket(server, "deleted");
    let deleted: Promise<unknown> | undefined;

    const ended = await bucket.run((request) => {
      if (!isFile(request)) return undefined;
      deleted ??= server.database.run(
        "UPDATE export_destinations SET deleted_at = 1 WHERE workspace_id = ?",
        [bucket.workspace.id],
      );
      return { kind: "hold", until: deleted };
    });

    expect(ended.ended.status).toBe("FAILED");
    expect(ended.runs.map((run) => [run.status, run.errors])).toContainEqual([
      "FAILED",
      { retry_0: "The destination was deleted" },
    ]);
  });
});

/** Encodes an object key as in a request's path. */
function encoded(key: string): string {
  return key.split("/").map(encodeURIComponent).join("/");
}
