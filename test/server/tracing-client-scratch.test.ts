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
    // attachments
    const a = run();
    await mp("attachment good len", [part(a), { name: `attachment.${a.id}.x`, body: "abc", contentType: "text/plain" }]);
    await mp("attachment wrong len +1", [part(a), { name: `attachment.${a.id}.x`, body: "abc", contentType: "text/plain" }], (b) => b.replace("Content-Length: 3", "Content-Length: 4"));
    await mp("attachment wrong len -1", [part(a), { name: `attachment.${a.id}.x`, body: "abc", contentType: "text/plain" }], (b) => b.replace("Content-Length: 3", "Content-Length: 2"));
    await mp("attachment wrong len huge", [part(a), { name: `attachment.${a.id}.x`, body: "abc", contentType: "text/plain" }], (b) => b.replace("Content-Length: 3", "Content-Length: 2000"));
    await mp("attachment wrong len astronomic", [part(a), { name: `attachment.${a.id}.x`, body: "abc", contentType: "text/plain" }], (b) => b.replace("Content-Length: 3", "Content-Length: 9000000000000000"));
    await mp("attachment no len cut", [part(a), { name: `attachment.${a.id}.x`, body: "abc", contentType: "text/plain", lengthIn: "nowhere" }], (b) => b.slice(0, -30));
    await mp("attachment no len 33MB", [part(a), { name: `attachment.${a.id}.x`, body: Buffer.alloc(33*1024*1024), contentType: "text/plain", lengthIn: "nowhere" }, part(good)]);
    await mp("attachment 60MB", [part(a), { name: `attachment.${a.id}.x`, body: Buffer.alloc(60*1024*1024), contentType: "text/plain" }, part(good)]);
    const b = run();
    await mp("bad post and its attachment", [part({ ...b, run_type: "x" }), { name: `attachment.${b.id}.x`, body: "abc", contentType: "text/plain" }]);
    await mp("good post + attachment + bad patch", [part(a), { name: `attachment.${a.id}.x`, body: "abc", contentType: "text/plain" }, part({ ...a, end_time: "never" }, "patch")]);
    const rr = await ws.client.readRun(a.id) as any;
    console.log(JSON.stringify(rr.s3_urls));
    const f = await fetch(rr.s3_urls["attachment.x"].presigned_url); console.log("ATT", f.status, await f.text());
    await mp("attachment of unknown run", [{ name: `attachment.${v7()}.x`, body: "abc", contentType: "text/plain" }]);
    // many attachments
    const m = run();
    await mp("3000 attachments, long names", [part(m), part(good), ...Array.from({ length: 3000 }, (_, i) => ({ name: `attachment.${m.id}.${"n".repeat(900)}${i}`, body: "a" }))]);
    // tags
    const batch = (body: unknown) => post("/runs/batch", JSON.stringify(body), { "content-type": "application/json" });
    show("huge tags", await batch({ post: [run({ tags: Array.from({ length: 1000 }, (_, i) => "t".repeat(9990) + i) }), run()] }));
    show("500 x huge tags", await batch({ post: Array.from({ length: 40 }, () => run({ tags: Array.from({ length: 100 }, (_, i) => "t".repeat(5990) + i) })) }));
    show("500 x huge dotted", await batch({ post: Array.from({ length: 500 }, () => { let p: any = undefined; for (let i = 0; i < 900; i++) p = { dotted_order: (p ? p.dotted_order + "." : "") + `20260801T000000000000Z${good.id}`, id: good.id, trace_id: good.id }; const r: any = run({ parent: p }); return r; }) }));
    show("many zeros", await batch({ post: Array(100_000).fill(0) }));
    show("1M zeros", await batch({ post: Array(1_000_000).fill(0) }));
    show("ok", await batch({ post: [run()] }));
  });
});
