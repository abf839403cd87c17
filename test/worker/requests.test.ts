import { env } from "cloudflare:workers";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { beforeAll, describe, inject, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { migrateIndex } from "./support.ts";

const app = createApp();

beforeAll(() => migrateIndex(inject("migrations")));

type Sent = { method?: string; headers?: Record<string, string>; vars?: object };

async function send(path: string, { method = "GET", headers = {}, vars = {} }: Sent = {}) {
  const ctx = createExecutionContext();
  const request = new Request(new URL(path, "http://localhost"), { method, headers });
  const bindings = { ...env, LOG_LEVEL: "error", ...vars };
  const response = await app.fetch(request, bindings, ctx);
  await response.clone().arrayBuffer();
  await waitOnExecutionContext(ctx);
  return response;
}

describe("a request without a key", () => {
  test("counts by its address, whatever users it names", async ({ expect }) => {
    const counted = async (user: string, address: string): Promise<string> => {
      const headers = { "x-user-id": user, "cf-connecting-ip": address };
      const { status, headers: answered } = await send("/api/v1/sessions", {
        headers,
        vars: { RATE_LIMITS: "on" },
      });
      return `${status} ${/^"([\w-]+)"/.exec(answered.get("ratelimit-policy") ?? "")?.[1]}`;
    };
    const answers = new Map<string, number>();
    for (let sent = 0; sent < 103; sent += 1) {
      const answer = await counted(`user ${sent}`, "203.0.113.7");
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    expect(Object.fromEntries(answers)).toEqual({ "401 default-user": 100, "429 public": 3 });
    expect(await counted("user 0", "203.0.113.8")).toBe("401 default-user");
  });
});
