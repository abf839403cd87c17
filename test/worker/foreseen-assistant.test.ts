import { env } from "cloudflare:workers";
import { assert, beforeAll, inject, test } from "vitest";
import { resolveAssistant } from "../../src/agent-server/assistants/resolve-assistant.ts";
import { findServingDeployment } from "../../src/db/deployment-lookup-repo.ts";
import { newDeployment } from "./deployment-support.ts";
import { observedDatabase } from "./observed-database.ts";
import { migrateIndex, newAssistant } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

test("an assistant is read in the statement that finds the deployment", async ({ expect }) => {
  const scope = await newDeployment();
  const id = crypto.randomUUID();
  await newAssistant(scope, id, "Mine");
  const found = await findServingDeployment(env.DB, `slug-${scope.deploymentId}`, id);
  assert(found !== undefined);
  expect(found).toMatchObject({ ...scope, assistant: { assistant_id: id, name: "Mine" } });
  const { database, statements } = observedDatabase();
  const call = { env: { ...env, DB: database }, ctx: {}, scope, revision: null, principal: null };
  expect(await resolveAssistant(call, id, found.assistant)).toMatchObject({ name: "Mine" });
  expect(statements).toEqual([]);
});

test("an assistant that the run does not name is not used for it", async ({ expect }) => {
  const scope = await newDeployment();
  const other = await newDeployment();
  const id = crypto.randomUUID();
  await newAssistant(scope, id, "Mine");
  const foreign = await findServingDeployment(env.DB, other.deploymentId, id);
  expect(foreign).toMatchObject({ ...other, assistant: null });
  await newAssistant(other, id, "Theirs");
  const found = await findServingDeployment(env.DB, scope.deploymentId, id);
  const call = { env, ctx: {}, scope: other, revision: null, principal: null };
  const named = await resolveAssistant(call, id, found?.assistant);
  expect(named).toMatchObject({ name: "Theirs" });
});
