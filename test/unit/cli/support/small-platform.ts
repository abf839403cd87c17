import { temporaryProject } from "./temporary-project.ts";

const WRANGLER_TOML = `
name = "small"
main = "worker.ts"
compatibility_date = "2026-11-01"
compatibility_flags = ["nodejs_compat"]

[vars]
GREETING = "from wrangler.toml"

[[d1_databases]]
binding = "DB"
database_name = "small"
database_id = "00000000-0000-0000-0000-000000000000"
migrations_dir = "migrations"

[[r2_buckets]]
binding = "FILES"
bucket_name = "files"

[[queues.producers]]
binding = "STEPS"
queue = "steps"

[[queues.consumers]]
queue = "steps"
max_batch_timeout = 0

[triggers]
crons = ["* * * * *"]

[[durable_objects.bindings]]
name = "NOTES"
class_name = "NotesObject"

[[migrations]]
tag = "v1"
new_sqlite_classes = ["NotesObject"]
`;

/** A Worker that keeps the same note in an object, in D1 and in R2. */
const WORKER = `
import { DurableObject } from "cloudflare:workers";
import pathname from "./notes-path.txt";
export { GraphHost } from "#project";

export class NotesObject extends DurableObject {
  list() {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (note TEXT)");
    return this.ctx.storage.sql.exec("SELECT note FROM notes").toArray().map(({ note }) => note);
  }
  add(note) {
    this.list();
    this.ctx.storage.sql.exec("INSERT INTO notes VALUES (?)", note);
  }
  async wakeIn(milliseconds) {
    await this.ctx.storage.setAlarm(Date.now() + milliseconds);
  }
  alarm() {
    this.add("alarm");
  }
}

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    const notes = env.NOTES.getByName("notes");
    if (url.pathname === "/ok") return Response.json({ ok: true });
    if (url.pathname === "/graph") return Response.json(await ctx.exports.GraphHost.answer());
    if (url.pathname === "/vars") {
      return Response.json([env.GREETING, env.SECRET, JSON.parse(env.PROJECT_ENV)]);
    }
    if (url.pathname === "/events") {
      if (request.method === "POST") await env.STEPS.send(await request.text());
      return Response.json(await env.NOTES.getByName("events").list());
    }
    if (url.pathname === "/alarm") {
      await notes.wakeIn(Number(url.searchParams.get("ms")));
      return Response.json("set");
    }
    if (url.pathname !== pathname.trim()) return new Response(null, { status: 404 });
    if (request.method === "POST") {
      const note = await request.text();
      await notes.add(note);
      await env.DB.prepare("INSERT INTO notes (note) VALUES (?)").bind(note).run();
      await env.FILES.put("note", note);
    }
    const { results } = await env.DB.prepare("SELECT note FROM notes").all();
    const file = await env.FILES.get("note");
    return Response.json({
      object: await notes.list(),
      d1: results.map(({ note }) => note),
      r2: file === null ? null : await file.text(),
    });
  },
  async queue({ messages }, env) {
    for (const { body } of messages) await env.NOTES.getByName("events").add("queue " + body);
  },
  async scheduled({ cron }, env) {
    await env.NOTES.getByName("events").add("cron " + cron);
  },
};
`;

/** A graph host that answers with the value that the graph "answer" exports. */
const GRAPH_HOST = `
import { WorkerEntrypoint } from "cloudflare:workers";
export function defineGraphHost({ graphs }) {
  return class GraphHost extends WorkerEntrypoint {
    async answer() {
      const module = await graphs.answer.load();
      return module[graphs.answer.exportName];
    }
    describe() {
      return {};
    }
    async check() {
      try {
        await this.answer();
        return [];
      } catch ({ message, stack }) {
        return [{ graph_id: "answer", message, stack }];
      }
    }
  };
}
`;

/** Returns a checkout with a small Worker and a project of one graph, from which platforms can be started. */
export function smallPlatform(): string {
  return temporaryProject({
    "wrangler.toml": WRANGLER_TOML,
    ".dev.vars":
      "SECRET=from .dev.vars\nLOCAL_S3_ACCESS_KEY_ID=local\nLOCAL_S3_SECRET_ACCESS_KEY=secret\n",
    "worker.ts": WORKER,
    "notes-path.txt": "/notes\n",
    "graph-host.js": GRAPH_HOST,
    "migrations/0000_notes.sql":
      "CREATE TABLE notes (note TEXT);\n--> statement-breakpoint\nCREATE INDEX by_note ON notes (note);\n",
    "langgraph.json": { graphs: { answer: "./answer.js:graph" }, env: { MODEL: "local" } },
    "answer.js": "export const graph = 1;",
  });
}
