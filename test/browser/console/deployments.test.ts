import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { TARBALLS_FOLDER } from "../../../cli/project/build-templates.ts";
import { GitHost } from "../../support/git-host.ts";
import {
  PUSH_SECRET_VALUE,
  PUSH_SECRETS,
  pushOf,
  sendEvent,
} from "../../support/github-webhook.ts";
import { githubBody } from "../../support/repository-builds.ts";
import { launchChromium } from "../support/chromium.ts";
import {
  closeQuiet,
  type ConsolePage,
  expectAccessible,
  openConsole,
} from "../support/console-page.ts";
import { type ConsoleServer, startConsole } from "../support/start-console.ts";

const SECRET = "a secret that nobody reads back";

let server: ConsoleServer;
let browser: Browser;
/** A host without repositories, so that their rollouts end at once. */
let host: GitHost;
/** A tarball of a project, as `threadworks build` makes it. */
let tarball: string;
let folder: string;
const opened: ConsolePage[] = [];

beforeAll(async () => {
  host = await GitHost.start();
  server = await startConsole(host.vars);
  browser = await launchChromium();
  folder = mkdtempSync(join(tmpdir(), "threadworks-tarball-"));
  tarball = join(folder, "project.tar.gz");
  cpSync(join(TARBALLS_FOLDER, "agent.tar.gz"), tarball);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await host?.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => closeQuiet(opened.splice(0)));

async function open(path: string): Promise<Page> {
  const consolePage = await openConsole(browser, server, { path });
  opened.push(consolePage);
  return consolePage.page;
}

async function api(path: string, apiKey = server.apiKey): Promise<Response> {
  return fetch(`${server.url}${path}`, { headers: { "x-api-key": apiKey } });
}

/** Expects the revisions in the page, newest first, to have these statuses. */
async function expectRevisions(page: Page, statuses: string[]): Promise<void> {
  const rows = page.getByRole("region", { name: "Revisions" }).getByRole("listitem");
  await expect
    .poll(async () => {
      const texts = await rows.allTextContents();
      return texts.map((text) => statuses.find((status) => text.startsWith(status)) ?? text);
    })
    .toEqual(statuses);
}

test("a template is deployed, rolled back, given other secrets, and deleted", async () => {
  const page = await open("/deployments");
  await page.getByRole("heading", { name: "Nothing is deployed yet" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "New deployment" }).click();
  await page.getByLabel(/^Name/).fill("no good name");
  await page.getByRole("button", { name: "Deploy" }).click();
  await page
    .getByRole("alert")
    .getByText(/name: /)
    .waitFor();
  await page.getByLabel(/^Name/).fill("weather");
  await page.getByLabel("Made of").selectOption("agent");
  await page.getByRole("button", { name: "Add a secret" }).click();
  await page.getByLabel("Name of the secret").fill("MODEL_KEY");
  await page.getByLabel("Value of MODEL_KEY").fill(SECRET);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Deploy" }).click();
  await page.getByRole("heading", { name: "weather" }).waitFor();
  await expectRevisions(page, ["serves"]);
  await expectAccessible(page);

  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("button", { name: "Deploy again" }).click();
  await expectRevisions(page, ["serves", "deployed"]);
  await page.getByRole("button", { name: "Roll back" }).click();
  await expectRevisions(page, ["serves", "deployed", "deployed"]);

  await page.getByRole("link", { name: "Secrets" }).click();
  await page.getByRole("list", { name: "Stored secrets" }).getByText("MODEL_KEY").waitFor();
  expect(await page.content()).not.toContain(SECRET);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add a secret" }).click();
  await page.getByLabel("Name of the secret").last().fill("OTHER_KEY");
  await page.getByRole("button", { name: "Save the secrets" }).click();
  await page.getByRole("alert").getByText("OTHER_KEY has no value yet").waitFor();
  await page.getByLabel("Value of OTHER_KEY").fill("another one");
  await page.getByRole("button", { name: "Save the secrets" }).click();
  const names = page.getByRole("list", { name: "Stored secrets" });
  await names.getByText("OTHER_KEY").waitFor();
  expect(await names.getByRole("listitem").allTextContents()).toEqual(["MODEL_KEY", "OTHER_KEY"]);
  await page.getByRole("link", { name: "Revisions" }).click();
  await expectRevisions(page, ["serves", "deployed", "deployed", "deployed"]);

  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("heading", { name: "There is no usage yet" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("group").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Deployments" }).waitFor();
  await expect.poll(async () => (await api(`/v2/deployments/${id}`)).status).toBe(404);
});

test("build on push is switched on for a repository, and pushes make revisions and previews", async () => {
  const headers = { "x-api-key": server.apiKey, "content-type": "application/json" };
  const body = githubBody(host, "shop", "acme/none", { secrets: [] });
  const made = await fetch(`${server.url}/v2/deployments`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const { id } = (await made.json()) as { id: string };
  const page = await open(`/deployments/${id}`);
  // The host has no such repository, so the only revision fails.
  await expectRevisions(page, ["build failed"]);
  await page.getByText("serves nothing", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Deploy again" }).waitFor();
  const [built, previewed] = [
    page.getByLabel("Pushes to the default branch make revisions"),
    page.getByLabel("Pushes to other branches make previews"),
  ];
  await built.click();
  await page
    .getByRole("alert")
    .getByText(/build_on_push needs the secret THREADWORKS_GITHUB_WEBHOOK_SECRET/)
    .waitFor();
  expect(await built.isChecked()).toBe(false);
  await page.getByRole("link", { name: "Secrets" }).click();
  await page.getByRole("button", { name: "Add a secret" }).click();
  await page.getByLabel("Name of the secret").fill(PUSH_SECRETS[0]?.name ?? "");
  await page.getByLabel(/^Value of/).fill(PUSH_SECRET_VALUE);
  await page.getByRole("button", { name: "Save the secrets" }).click();
  await page.getByRole("list", { name: "Stored secrets" }).waitFor();
  await page.getByRole("link", { name: "Revisions" }).click();
  await built.click();
  await expect.poll(() => built.isChecked()).toBe(true);
  await previewed.click();
  await expect.poll(() => previewed.isChecked()).toBe(true);
  const webhook = (await page.getByLabel("Code").last().textContent()) ?? "";
  expect(webhook.trim()).toBe(`${server.url}/v2/deployments/${id}/github-webhook`);
  await expectAccessible(page);

  const [first, second] = ["a".repeat(40), "b".repeat(40)];
  await sendEvent(webhook, pushOf("acme/none", first));
  const commit = page
    .getByRole("region", { name: "Revisions" })
    .getByRole("link", { name: "aaaaaaa" });
  await commit.waitFor();
  expect(await commit.getAttribute("href")).toBe(`${host.urlOf("acme/none")}/commit/${first}`);
  await sendEvent(webhook, pushOf("acme/none", second, { ref: "refs/heads/feature/login" }));
  await page.getByRole("list", { name: "Previews" }).getByRole("link").click();
  await page.getByRole("heading", { name: "shop-feature-login" }).waitFor();
  await page.getByText("This is the preview of the branch feature/login").waitFor();
  await page.getByText("feature/login at bbbbbbb").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "The deployment that it previews" }).click();
  await page.getByRole("heading", { name: "shop", exact: true }).waitFor();
  await previewed.click();
  await expect.poll(() => previewed.isChecked()).toBe(false);
  expect(await (await api(`/v2/deployments/${id}`)).json()).toMatchObject({
    source_config: { build_on_push: true, previews: false },
  });
});

test("a tarball is uploaded by drag and drop, an invalid file is refused, and the log is followed", async () => {
  const page = await open("/deployments/new");
  await page.getByLabel(/^Name/).fill("dropped");
  await page.getByLabel("Made of").selectOption({ label: "a project of your own" });
  await page.getByRole("button", { name: "Deploy" }).click();
  await page.getByRole("alert").getByText("Choose a tarball first").waitFor();
  const field = page.getByLabel("Tarball of the project");
  await field.setInputFiles({ name: "none.tar.gz", mimeType: "", buffer: Buffer.from("no gzip") });
  await page.getByRole("button", { name: "Deploy" }).click();
  await page.getByRole("alert").getByText(/gzip/).waitFor();
  await drop(page, tarball);
  await page.getByText("project.tar.gz").waitFor();
  await page.getByRole("button", { name: "Deploy" }).click();
  await page.getByRole("heading", { name: "dropped" }).waitFor();
  await expectRevisions(page, ["serves"]);

  await page.getByRole("region", { name: "Revisions" }).getByRole("link", { name: "Logs" }).click();
  const lines = page.getByRole("list", { name: "Lines" });
  await page.getByLabel("Part").selectOption("build");
  await lines.getByText(/./).first().waitFor();
  const built = await lines.getByRole("listitem").allTextContents();
  expect(built.length).toBeGreaterThan(0);
  await page.getByLabel("Part").selectOption("");
  await lines.getByText("INFO").first().waitFor();
  await page.getByLabel("Revision").selectOption({ label: "all" });
  await expectAccessible(page);
  const id = /deployments\/([^/]+)/.exec(page.url())?.[1] ?? "";
  const redeploy = `/v2/deployments/${id}/revisions`;
  const count = await lines.getByRole("listitem").count();
  const answer = await fetch(`${server.url}${redeploy}`, {
    method: "POST",
    headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
    body: "{}",
  });
  expect(answer.status).toBe(201);
  // Nothing asks the page to reload: it shows new lines as they are written.
  await expect.poll(() => lines.getByRole("listitem").count()).toBeGreaterThan(count);
  const all = await lines.locator("time").allTextContents();
  expect(all).toEqual(all.toSorted());
});

/** Drops a file as a user does from the desktop, by telling the browser itself. */
async function drop(page: Page, file: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const box = await page.getByLabel("Tarball of the project").boundingBox();
  if (box === null) throw new Error("There is no place to drop a file on");
  const data = { items: [], files: [file], dragOperationsMask: 1 };
  const place = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await session.send("Input.dispatchDragEvent", { type, ...place, data });
  }
}

test("a key is made, shown once, used, and revoked", async () => {
  const page = await open("/workspace");
  await page
    .getByText(/of \d+$/)
    .first()
    .waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("this page's key").waitFor();
  await page.getByLabel("What it is for").fill("a program");
  await page.getByRole("button", { name: "Make a key" }).click();
  const key = (await page.getByLabel("Code").textContent()) ?? "";
  expect(key).toMatch(/^tw_us_/);
  await expectAccessible(page);
  expect((await api("/v2/deployments", key)).status).toBe(200);
  await page.reload();
  const row = page.getByRole("listitem").filter({ hasText: "a program" });
  await row.waitFor();
  expect(await page.content()).not.toContain(key);
  await row.getByRole("button", { name: "Revoke" }).click();
  await row.getByRole("group").getByRole("button", { name: "Revoke" }).click();
  await row.waitFor({ state: "detached" });
  await expect.poll(async () => (await api("/v2/deployments", key)).status).toBe(401);
});

test("a service is refused with the server's message, added, and removed", async () => {
  const page = await open("/workspace/services");
  await page.getByRole("heading", { name: "No service can be connected yet" }).waitFor();
  await page.getByLabel(/^Id/).fill("notes");
  await page.getByLabel("Name", { exact: true }).fill("Notes");
  await page.getByLabel("Authorization URL").fill("no url");
  await page.getByLabel("Token URL").fill("https://notes.example/token");
  await page.getByLabel("Client id").fill("client");
  await page.getByRole("button", { name: "Add the service" }).click();
  await page
    .getByRole("alert")
    .getByText(/auth_url/)
    .waitFor();
  await page.getByLabel("Authorization URL").fill("https://notes.example/auth");
  await page.getByLabel(/^Client secret/).fill("secret");
  await page.getByRole("button", { name: "Add the service" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "notes.example" });
  await row.waitFor();
  await expectAccessible(page);
  await row.getByRole("button", { name: "Remove" }).click();
  await row.getByRole("group").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
});
