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
    const small = [part(good)];
    await mp("no final boundary", small, (b) => b.slice(0, -10));
    await mp("cut in part", [part(good), part(run())], (b) => b.slice(0, -100));
    await mp("garbage after boundary", [part(good), part(run())], (b) => { const i = b.indexOf("--", 100); const bd = b.slice(0, b.indexOf("\r\n")); return b.replaceAll(bd + "\r\n", bd + "garbage\r\n"); });
    await mp("length +1", [part(good), part(run())], (b) => b.replace(/Content-Length: (\d+)/, (_, n) => `Content-Length: ${Number(n) + 1}`));
    await mp("length -1", [part(good), part(run())], (b) => b.replace(/Content-Length: (\d+)/, (_, n) => `Content-Length: ${Number(n) - 1}`));
    await mp("length -1 no boundary", [part(good)], (b) => b.replace(/Content-Length: (\d+)/, (_, n) => `Content-Length: x`));
    await mp("no name", [part(good)], (b) => b.replace(/; name="[^"]*"/, ""));
    await mp("bad name", [{ name: "hello", body: "{}" }, part(run())]);
    await mp("bad id", [{ name: "post.x", body: "{}" }, part(run())]);
    await mp("bad field", [part(good), { name: `post.${good.id}.name`, body: "{}" }, part(run())]);
    await mp("field only", [{ name: `post.${v7()}.inputs`, body: "{}" }, part(run())]);
    await mp("not JSON", [{ name: `post.${good.id}`, body: "{" }, part(run())]);
    await mp("array", [{ name: `post.${good.id}`, body: "[]" }, part(run())]);
    await mp("id mismatch", [{ name: `post.${v7()}`, body: JSON.stringify(good) }, part(run())]);
    await mp("utf8", [{ name: `post.${good.id}`, body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }, part(run())]);
    await mp("depth 1000 inputs", [part(good), { name: `post.${good.id}.inputs`, body: "[".repeat(1000) + "]".repeat(1000) }, part(run())]);
    await mp("part encoding", [part(good)], (b) => b.replace("Content-Length", "Content-Encoding: gzip\r\nContent-Length"));
    const ct = "multipart/form-data; boundary=b";
    show("empty multipart", await post("/runs/multipart", "", { "content-type": ct }));
    show("only final", await post("/runs/multipart", "--b--\r\n", { "content-type": ct }));
    show("no boundary", await post("/runs/multipart", "x", { "content-type": "multipart/form-data" }));
    show("wrong type", await post("/runs/multipart", "x", { "content-type": "application/json" }));
    show("br", await post("/runs/multipart", "x", { "content-type": ct, "content-encoding": "br" }));
    show("trunc gzip", await post("/runs/multipart", gzipSync(multipartBody(small).body).subarray(0, 100), { "content-type": ct, "content-encoding": "gzip" }));
    show("not gzip", await post("/runs/multipart", "hello", { "content-type": ct, "content-encoding": "gzip" }));
    show("not zstd", await post("/runs/multipart", "hello", { "content-type": ct, "content-encoding": "zstd" }));
    for (const body of ["", "[]", "null", "1", '"x"', "{", '{"post":{}}', '{"post":1}', '{"runs":[]}', '{"post":null}', "{}", '{"post":[[]]}', '{"post":[null,"x"],"patch":[{}]}'])
      show("batch " + body, await batch(body));
    show("batch utf8", await post("/runs/batch", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}));
    for (const [k, v] of Object.entries({ run_type: "x", name: "a\0b", dotted_order: "x", trace_id: v7(), parent_run_id: v7(), id: "x", start_time: "x", end_time: -1, tags: "x", extra: [], events: "x", session_id: "x", error: { a: 1 }, inputs: "text", outputs: [1] }))
      show("field " + k, await batch({ post: [run({ [k]: v }), run()] }));
    show("bigint", await batch(`{"post":[${JSON.stringify(run({ inputs: { n: "N" } })).replace('"N"', "123456789012345678901234567890")},${JSON.stringify(run())}]}`));
    show("nested 1000", await batch(`{"post":[${JSON.stringify(run({ inputs: { n: "N" } })).replace('"N"', "[".repeat(1000) + "]".repeat(1000))},${JSON.stringify(run())}]}`));
    show("nested 10M", await batch(`{"post":[${"[".repeat(1e7)}${"]".repeat(1e7)}]}`));
    show("10MB", await batch({ post: [run({ inputs: { s: "x".repeat(10e6) } })] }));
    show("40MB batch", await batch({ post: [run({ inputs: { s: "x".repeat(40e6) } })] }));
    await mp("40MB part", [part(good), { name: `post.${good.id}.inputs`, body: JSON.stringify("x".repeat(40e6)) }, part(run())]);
    await mp("100001 parts", Array.from({ length: 100_001 }, () => ({ name: "x", body: "" })));
    const zeros = async (enc: string) => {
      const b = run();
      const { body, contentType } = multipartBody([part(run()), { name: `post.${b.id}.inputs`, body: '"' }]);
      const cut = body.indexOf('"\r\n--', body.length - 80);
      const { Readable } = await import("node:stream");
      const zlib = await import("node:zlib");
      const z = enc === "gzip" ? zlib.createGzip() : zlib.createZstdCompress();
      const src = Readable.from((async function* () { yield body.subarray(0, cut).toString("latin1").replace(/Content-Length: 1\r/, "Content-Length: 1073741824\r"); const zero = Buffer.alloc(1 << 20, 48); for (let i = 0; i < 1024; i++) yield zero; })());
      const chunks: Buffer[] = []; for await (const c of src.pipe(z)) chunks.push(c as Buffer);
      const buf = Buffer.concat(chunks);
      show(`bomb ${enc} ${buf.length}`, await post("/runs/multipart", buf, { "content-type": contentType, "content-encoding": enc }));
      show(`bomb batch ${enc} ${buf.length}`, await post("/runs/batch", buf, { "content-type": contentType, "content-encoding": enc }));
      show(`bomb runs ${enc} ${buf.length}`, await post("/runs", buf, { "content-type": contentType, "content-encoding": enc }));
    };
    await zeros("gzip"); await zeros("zstd");
    // feedback
    const fid = v7();
    await mp("feedback bad", [part(good), { name: `feedback.${fid}`, body: JSON.stringify({ key: "k" }) }, { name: `feedback.${fid}`, body: "{" }, { name: `feedback.${v7()}`, body: JSON.stringify({ key: "k", run_id: "x" }) }, { name: `feedback.${v7()}`, body: JSON.stringify({ key: "k", run_id: v7(), trace_id: v7(), score: 1, error: null }) }]);
    await mp("feedback 5MB comment", [part(good), { name: `feedback.${v7()}`, body: JSON.stringify({ key: "k", run_id: good.id, comment: "c".repeat(5e6) }) }, { name: `feedback.${v7()}`, body: JSON.stringify({ key: "k", run_id: good.id, comment: "c" }) }]);
    await mp("feedback with bad run", [part({ ...good, run_type: "x" }), { name: `feedback.${v7()}`, body: JSON.stringify({ key: "k", run_id: good.id, trace_id: good.id, score: 1 }) }]);
    const hex = good.id.replaceAll("-", "");
    const patch = async (path: string, body: unknown, method = "PATCH") => { const r = await ws.api(method, path, body); return `${r.status} ${(await r.text()).slice(0, 300)}`; };
    show("patch hex", await patch(`/runs/${hex}`, { name: "x" }));
    show("get hex", await patch(`/runs/${hex}`, undefined, "GET"));
    show("patch unknown", await patch(`/runs/${v7()}`, { name: "x" }));
    show("patch id differs", await patch(`/runs/${good.id}`, { id: v7(), name: "x" }));
    show("patch bad", await patch(`/runs/${good.id}`, { end_time: "x" }));
    show("patch array", await patch(`/runs/${good.id}`, []));
    show("post unknown parent", await patch(`/runs`, { id: v7(), name: "x", run_type: "chain", parent_run_id: v7() }, "POST"));
    show("post unknown session", await patch(`/runs`, { id: v7(), name: "x", run_type: "chain", session_id: v7() }, "POST"));
    show("post nothing", await patch(`/runs`, {}, "POST"));
    for (let i = 0; i < 8; i++) show("extra grows", await patch(`/runs/${good.id}`, { extra: { ["k" + i]: "x".repeat(900_000) } }));
    show("metadata big", await patch(`/runs/${run().id}`, { extra: { metadata: Object.fromEntries(Array.from({ length: 20000 }, (_, i) => ["k" + i, i])) } }));
    const big = run({ extra: { metadata: Object.fromEntries(Array.from({ length: 20000 }, (_, i) => ["k" + i, i])) } });
    show("metadata big", await patch(`/runs`, big, "POST"));
    show("ok", await batch({ post: [run()] }));
  });
});
