import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, beforeEach, describe, inject, test, vi } from "vitest";
import type { AssistantCacheObject } from "../../src/agent-server/assistants/assistant-cache-object.ts";
import {
  cachedAssistant,
  forgetAllAssistants,
  forgetAssistant,
} from "../../src/agent-server/assistants/assistant-cache.ts";
import * as repo from "../../src/db/assistants-repo.ts";
import { scopeObjectName } from "../../src/lib/object-names.ts";
import type { Scope } from "../../src/lib/scope.ts";
import { migrateIndex, newAssistant } from "./support.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";

const select = vi.spyOn(repo, "selectAssistant");

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(() => void select.mockClear());

async function withAssistant(): Promise<Scope> {
  const scope = { workspaceId: crypto.randomUUID(), deploymentId: "default" };
  await newAssistant(scope, ID, "first");
  return scope;
}

async function rename({ workspaceId }: Scope, name: string): Promise<void> {
  await env.DB.prepare("UPDATE assistants SET name = ? WHERE workspace_id = ?")
    .bind(name, workspaceId)
    .run();
}

const nameOf = async (scope: Scope): Promise<string | undefined> =>
  (await cachedAssistant(env, scope, ID))?.name;

describe("the assistants of a scope", () => {
  test("are read once, until they are forgotten", async ({ expect }) => {
    const scope = await withAssistant();
    expect([await nameOf(scope), await nameOf(scope)]).toEqual(["first", "first"]);
    expect(select).toHaveBeenCalledTimes(1);
    await rename(scope, "second");
    await forgetAssistant(env, scope, ID);
    expect(await nameOf(scope)).toBe("second");
    await rename(scope, "third");
    await forgetAllAssistants(env, scope);
    expect([await nameOf(scope), await nameOf(scope)]).toEqual(["third", "third"]);
    expect(select).toHaveBeenCalledTimes(3);
  });

  test("are read again when they were forgotten during the read", async ({ expect }) => {
    const scope = await withAssistant();
    const reading = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    select.mockImplementationOnce((...options) => {
      const statement = repo.selectAssistant(...options);
      return {
        first: async () => {
          const row = await statement.first();
          reading.resolve();
          await written.promise;
          return row;
        },
      } as unknown as D1PreparedStatement;
    });
    const before = nameOf(scope);
    await reading.promise;
    await rename(scope, "second");
    await forgetAssistant(env, scope, ID);
    const after = nameOf(scope);
    written.resolve();
    expect([await before, await after, await nameOf(scope)]).toEqual(["first", "second", "second"]);
  });

  test("are read again after a failed read, and when they did not exist", async ({ expect }) => {
    const scope = { workspaceId: crypto.randomUUID(), deploymentId: "default" };
    expect(await cachedAssistant(env, scope, ID)).toBeNull();
    expect(await cachedAssistant(env, scope, ID)).toBeNull();
    expect(select).toHaveBeenCalledTimes(2);
    const other = await withAssistant();
    const object = env.ASSISTANT_CACHE.getByName(scopeObjectName(other));
    await runInDurableObject(object, async (instance: AssistantCacheObject) => {
      select.mockImplementationOnce(() => {
        throw new Error("D1 is down");
      });
      await expect(instance.find(other, ID)).rejects.toThrow("D1 is down");
      const row = await instance.find(other, ID);
      assert(row !== null);
      expect(row.name).toBe("first");
    });
  });

  test("are read again after ten seconds, which bounds how long a lost change stays unseen", async ({
    expect,
  }) => {
    const scope = await withAssistant();
    const object = env.ASSISTANT_CACHE.getByName(scopeObjectName(scope));
    await runInDurableObject(object, async (instance: AssistantCacheObject) => {
      const now = Date.now();
      const clock = vi.spyOn(Date, "now");
      const nameAt = async (ms: number): Promise<string | undefined> => {
        clock.mockReturnValue(now + ms);
        return (await instance.find(scope, ID))?.name;
      };
      expect(await nameAt(0)).toBe("first");
      await rename(scope, "second");
      expect([await nameAt(9_900), await nameAt(10_100)]).toEqual(["first", "second"]);
      clock.mockRestore();
    });
  });
});
