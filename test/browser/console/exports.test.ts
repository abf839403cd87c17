import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeRun } from "../../support/sample-runs.ts";
import { launchChromium } from "../support/chromium.ts";
import {
  closeQuiet,
  type ConsolePage,
  expectAccessible,
  openConsole,
} from "../support/console-page.ts";
import { type ConsoleServer, startConsole } from "../support/start-console.ts";

let server: ConsoleServer;
let browser: Browser;
const opened: ConsolePage[] = [];

beforeAll(async () => {
  server = await startConsole();
  browser = await launchChromium();
  const ended = { end_time: new Date().toISOString(), outputs: { output: "done" } };
  const post = Array.from({ length: 7 }, (_, index) =>
    Object.assign(makeRun(1_000 + index, ended).body, { session_name: "exported" }),
  );
  await api("/runs/batch", { post });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(() => closeQuiet(opened.splice(0)));

async function api(path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function open(path: string): Promise<Page> {
  const consolePage = await openConsole(browser, server, { path });
  opened.push(consolePage);
  return consolePage.page;
}

/** Creates a destination in the server's own bucket. */
async function describeBucket(name: string, prefix: string): Promise<{ id: string }> {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = server.s3;
  return (await api("/bulk-exports/destinations", {
    destination_type: "s3",
    display_name: name,
    config: { bucket_name: bucket, prefix, endpoint_url: endpoint },
    credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey },
  })) as { id: string };
}

test("a destination is refused with the server's message, created, and exported to", async () => {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = server.s3;
  const page = await open("/exports");
  await page.getByRole("heading", { name: "Nothing has been exported yet" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "New export" }).click();
  await page.getByLabel("Name", { exact: true }).fill("on this machine");
  await page.getByLabel("Bucket", { exact: true }).fill("no such bucket");
  await page.getByLabel(/^Endpoint/).fill(endpoint);
  await page.getByLabel("Key id").fill(accessKeyId);
  await page.getByLabel(/^Secret/).fill(secretAccessKey);
  await page.getByRole("button", { name: "Add the destination" }).click();
  await page
    .getByRole("alert")
    .getByText(/bucket_name: /)
    .waitFor();
  await page.getByLabel("Bucket", { exact: true }).fill(bucket);
  await page.getByRole("button", { name: "Add the destination" }).click();

  await page.getByRole("combobox", { name: /^Project/ }).selectOption("exported");
  await expectAccessible(page);
  await page.getByLabel(/^Filter/).fill("eq(statos, 1)");
  await page.getByRole("button", { name: "Start the export" }).click();
  await page
    .getByRole("alert")
    .getByText(/filter/)
    .waitFor();
  await page.getByLabel(/^Filter/).fill("");
  await page.getByRole("button", { name: "Start the export" }).click();
  await page.getByRole("heading", { name: "Export of exported" }).waitFor();
  await page.getByText("completed").first().waitFor();
  await page
    .getByText(/ 7 rows, /)
    .first()
    .waitFor();
  await expectAccessible(page);

  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const runs = (await api(`/bulk-exports/${id}/runs`)) as {
    metadata: { result: { exported_files: string[] } };
  }[];
  const files = runs.flatMap(({ metadata }) => metadata.result.exported_files);
  expect(files.length).toBeGreaterThan(0);
  const snippet = (await page.getByLabel("Code").first().textContent()) ?? "";
  const folder = /s3:\/\/(.*)\/\*\*\/\*\.parquet/.exec(snippet)?.[1] ?? "none";
  // The bucket has files of this export only.
  expect(files.filter((file) => !file.includes(`${folder}/`))).toEqual([]);
});

test("keys of a bucket are replaced after the server has tried them, and columns are chosen", async () => {
  const { accessKeyId, secretAccessKey } = server.s3;
  const destination = await describeBucket("with old keys", "rotated");
  const page = await open("/exports/destinations");
  const row = page.getByRole("listitem").filter({ hasText: "with old keys" });
  await row.getByText("Replace its keys").click();
  await row.getByLabel("Key id").fill(accessKeyId);
  await row.getByLabel("Secret").fill("another secret");
  await row.getByRole("button", { name: "Replace the keys" }).click();
  await row.getByRole("alert").waitFor();
  await expectAccessible(page);
  await row.getByLabel("Secret").fill(secretAccessKey);
  await row.getByRole("button", { name: "Replace the keys" }).click();
  await row.getByText("The keys are replaced.").waitFor();

  await page.goto(`${server.url}/console/exports/new`);
  await page.getByRole("combobox", { name: /^Destination/ }).selectOption(destination.id);
  await page.getByRole("combobox", { name: /^Format/ }).selectOption("v2_beta");
  await page.getByText("Columns: all").click();
  await page.getByRole("button", { name: "None" }).click();
  await page.getByRole("checkbox", { name: "id", exact: true }).check();
  await page.getByRole("checkbox", { name: "name", exact: true }).check();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Start the export" }).click();
  await page.getByRole("heading", { name: /^Export of/ }).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect(await api(`/bulk-exports/${id}`)).toMatchObject({
    format_version: "v2_beta",
    export_fields: ["id", "name"],
  });
});

test("a schedule is cancelled", async () => {
  const destination = await describeBucket("for a schedule", "scheduled");
  const page = await open("/exports/new");
  await page.getByRole("combobox", { name: /^Destination/ }).selectOption(destination.id);
  await page.getByLabel(/^Repeat every/).fill("24");
  await page.getByRole("button", { name: "Start the export" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("cancelled").first().waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect(await api(`/bulk-exports/${id}`)).toMatchObject({
    status: "CANCELLED",
    interval_hours: 24,
  });
  await page.getByRole("link", { name: "Exports" }).last().click();
  await page.getByRole("listitem").filter({ hasText: "every 24 h" }).waitFor();
});
