import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { revisionSecrets, sealSecrets } from "../../src/revision-host/revision-secrets.ts";
import { openSecret } from "../../src/secrets/secret-box.ts";
import { newDeployment, newRevision, type TestDeployment } from "./deployment-support.ts";
import { migrateIndex } from "./support.ts";

const ONE = `1:${btoa("1".repeat(32)).replace("=", "")}`;
const TWO = `2:${btoa("2".repeat(32)).replace("=", "")}`;

const SECRETS = [
  { name: "A", value: "first" },
  { name: "B", value: "" },
];

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(async () => {
  await env.DB.prepare("DELETE FROM revisions").run();
});

function reseal(keys: string): Promise<number> {
  return revisionSecrets.run({ env: { ...env, ENCRYPTION_KEYS: keys }, rows: 20 });
}

/** Creates a deployment with secrets under the first of the keys. */
async function sealedDeployment(keys: string): Promise<TestDeployment> {
  const of = await newDeployment();
  await newRevision(of, { secrets: await sealSecrets(keys, of, SECRETS) });
  return of;
}

/** Returns the sealed secrets of the revisions, oldest first. */
async function sealed({ deploymentId }: TestDeployment): Promise<Record<string, string>[]> {
  const { results } = await env.DB.prepare(
    "SELECT secrets FROM revisions WHERE deployment_id = ? ORDER BY id",
  )
    .bind(deploymentId)
    .all<{ secrets: string }>();
  return results.map(({ secrets }) => JSON.parse(secrets));
}

test("a revision takes over the sealed secrets of the previous one", async () => {
  const of = await sealedDeployment(ONE);
  await newRevision(of);
  const [first, second, third] = await sealed(of);
  expect(first).toEqual({});
  expect(third).toEqual(second);
  const { workspaceId, deploymentId } = of;
  const context = `${workspaceId}/${deploymentId}/A`;
  expect(await openSecret(ONE, third?.["A"] ?? "", context)).toBe("first");
  // A secret is bound to its name and its deployment.
  await expect(openSecret(ONE, third?.["A"] ?? "", context.replace(/A$/, "B"))).rejects.toThrow(
    "cannot be opened",
  );
});

test("secrets are encrypted with the first key, in each revision", async () => {
  const of = await sealedDeployment(ONE);
  await newRevision(of);
  await sealedDeployment(TWO);
  expect(await reseal(ONE)).toBe(0);
  expect(await reseal(`${TWO},${ONE}`)).toBe(2);
  expect(await reseal(`${TWO},${ONE}`)).toBe(0);
  for (const secrets of (await sealed(of)).slice(1)) {
    for (const { name, value } of SECRETS) {
      const context = `${of.workspaceId}/${of.deploymentId}/${name}`;
      expect(await openSecret(TWO, secrets[name] ?? "", context)).toBe(value);
    }
  }
});

test("secrets that no key opens do not prevent the rotation of others", async ({
  onTestFinished,
}) => {
  const lost = await sealedDeployment(`1:${btoa("x".repeat(32)).replace("=", "")}`);
  const other = await sealedDeployment(ONE);
  const logged = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => logged.mockRestore());
  expect(await reseal(`${TWO},${ONE}`)).toBe(1);
  expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
    { event: "secret_not_resealed", kind: "revision", deployment_id: lost.deploymentId },
  ]);
  expect((await sealed(other))[1]?.["A"]).toMatch(/^2\./);
  expect((await sealed(lost))[1]?.["A"]).toMatch(/^1\./);
});

test("nothing is encrypted again without keys", async () => {
  await sealedDeployment(ONE);
  expect(await reseal("")).toBe(0);
});
