/**
 * The platform for tests, which counts the turns of queries and searches, records its reads of D1, and can be filled
 * with rows.
 */
import platform from "../../src/index.ts";
import { RunShardObject as Shard } from "../../src/tracing/shard/run-shard-object.ts";

export * from "../../src/index.ts";

let turns = 0;

/** The SELECT statements that requests have sent to D1 one by one. */
const reads: string[] = [];

/** So long that it is expensive to test a filter on each run. */
const NAME = "a".repeat(10_000);

export class RunShardObject extends Shard {
  override page(...args: Parameters<Shard["page"]>): ReturnType<Shard["page"]> {
    turns += 1;
    return super.page(...args);
  }

  override stats(...args: Parameters<Shard["stats"]>): ReturnType<Shard["stats"]> {
    turns += 1;
    return super.stats(...args);
  }

  /** Copies the first run of the shard. */
  copy(count: number): void {
    this.ctx.storage.sql.exec(
      `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
       INSERT INTO runs (key, id, trace_id, dotted_order, name, run_type, start_time, status, patched,
         inserted_at, received_at)
       SELECT key + n * 1024, printf('00000000-0000-4000-8000-%012d', n), trace_id, dotted_order, ?, run_type,
         start_time + n, status, 0, 0, 0
       FROM n, (SELECT * FROM runs LIMIT 1)`,
      count,
      NAME,
    );
  }
}

/** Counts the steps of scans (see bounded-scan.ts), and records reads. */
function countingReads(database: D1Database): D1Database {
  return new Proxy(database, {
    get: (target, name) => {
      if (name === "prepare") {
        return (text: string) => {
          if (text.startsWith("WITH ahead")) turns += 1;
          const statement = target.prepare(text);
          return /^select/i.test(text) ? keepingRead(statement, text) : statement;
        };
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function keepingRead(statement: D1PreparedStatement, text: string): D1PreparedStatement {
  return new Proxy(statement, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name === "bind") {
        return (...values: unknown[]) => keepingRead(target.bind(...values), text);
      }
      return (...args: unknown[]): unknown => {
        reads.push(text);
        return member.apply(target, args);
      };
    },
  });
}

export default {
  ...platform,
  fetch: async (request, env, ctx) => {
    const { pathname, searchParams } = new URL(request.url);
    const count = Number(searchParams.get("count"));
    if (pathname === "/turns") return Response.json(turns);
    if (pathname === "/reads") return Response.json(reads);
    if (pathname === "/copy-runs") {
      const shard: unknown = env.RUN_SHARDS.getByName(searchParams.get("shard") ?? "");
      await (shard as { copy: (count: number) => Promise<void> }).copy(count);
      return new Response(null, { status: 204 });
    }
    if (pathname === "/copy-threads") {
      await env.DB.prepare(
        `INSERT INTO threads SELECT workspace_id, deployment_id, printf('copy %d', n), status, metadata,
           config, state_values, interrupts, error, omitted, values_chars, json_chars, created_at,
           updated_at, state_updated_at, version
         FROM threads, (WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
           SELECT n FROM n)
         WHERE workspace_id = ?`,
      )
        .bind(count, searchParams.get("workspace"))
        .run();
      return new Response(null, { status: 204 });
    }
    return platform.fetch(request, { ...env, DB: countingReads(env.DB) }, ctx);
  },
} satisfies ExportedHandler<Env>;
