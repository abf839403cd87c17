import { gzipSync, zstdCompressSync, createGzip } from "node:zlib";
import { readdirSync, readFileSync } from "node:fs";
import { describe } from "vitest";
import { v7 } from "uuid";
import { testWithServer } from "../support/server.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";
import { runData } from "../support/trace-data.ts";
import { multipartBody, type Part } from "../support/multipart.ts";

const test = testWithServer();

function rss() {
  const out: [number, string, number][] = [];
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const ppid = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const name = /Name:\s+(.*)/.exec(status)?.[1] ?? "";
      const kb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
      const peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
      if (ppid === process.pid) out.push([Number(pid), name, kb / 1024 | 0, peak/1024|0] as never);
    } catch {}
  }
  return out;
}

describe("x", () => {
  test("y", { timeout: 300_000 }, async ({ server }) => {
    const ws = await tracingWorkspace(server, "x");
    console.log(rss(), server.url);
    const key = { "x-api-key": ws.apiKey };
    const post = async (path: string, body: BodyInit, headers: Record<string, string>) => {
      const t = Date.now();
      try {
        const r = await server.fetch(`/api/v1${path}`, { method: "POST", body, headers: { ...key, ...headers }, duplex: "half" } as RequestInit);
        const text = await r.text();
        return `${r.status} ${Date.now() - t}ms ${text.slice(0, 600)}`;
      } catch (e) { return `THROW ${String(e)} ${String((e as Error).cause)}`; }
    };
    const show = (name: string, s: string) => console.log(`## ${name}: ${s}  rss=${JSON.stringify(rss().filter(x=>x[1]==="workerd").map(x=>x.slice(2)))}`);
    const run = (more = {}) => runData("p", more);
    const part = (r: Record<string, unknown>, kind = "post"): Part => ({ name: `${kind}.${r["id"]}`, body: JSON.stringify(r) });
    const mp = async (name: string, parts: Part[], edit: (b: string) => string = (b) => b) => {
      const { body, contentType } = multipartBody(parts);
      const text = edit(body.toString("latin1"));
      show(name, await post("/runs/multipart", Buffer.from(text, "latin1"), { "content-type": contentType }));
    };
    const good = run();

    const batch = (body: unknown) => post("/runs/batch", typeof body === "string" ? body : JSON.stringify(body), { "content-type": "application/json" });

    const days = (n: number) => Array.from({ length: n }, (_, i) => runData("days", { start: new Date(Date.UTC(2020, 0, 1 + i)) }));
    show("100 days", await batch({ post: days(100) }));
    show("500 days", await batch({ post: days(500) }));
    show("2000 days", await batch({ post: days(2000) }));
    const q = await ws.api("POST", "/runs/query", { limit: 100, select: ["id"] }); show("query", `${q.status} ${(await q.text()).length}`);
    show("300 projects", await batch({ post: Array.from({ length: 300 }, (_, i) => runData("project " + i)) }));
    show("1500 projects", await batch({ post: Array.from({ length: 1500 }, (_, i) => runData("project " + i)) }));
    show("ok", await batch({ post: [run()] }));
  });
});
