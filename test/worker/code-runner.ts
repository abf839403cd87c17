/** The platform for tests, with ways to run any code like a deployment's, and to write to a log. */
import platform from "../../src/index.ts";
import type { LogLine } from "../../src/deployment-log/log-line.ts";
import { recordLogs } from "../../src/deployment-log/record.ts";
import type { BuiltModule } from "../../src/revision-host/built-code.ts";
import { workerCode } from "../../src/revision-host/load-revision.ts";
import type { CodeRun } from "../support/code-runs.ts";

export * from "../../src/index.ts";

export default {
  ...platform,
  fetch: async (request, env, ctx) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/record-logs") {
      const { ref, lines } = await request.json<{ ref: CodeRun["ref"]; lines: LogLine[] }>();
      await recordLogs(env, ref, lines);
      return new Response(null, { status: 204 });
    }
    if (pathname !== "/run-code") return platform.fetch(request, env, ctx);
    const { ref, code, input, hosts = null } = await request.json<CodeRun>();
    const built = {
      main: "main.js",
      modules: {
        "main.js": jsModule(`import { connect } from "cloudflare:sockets";
            import { WorkerEntrypoint } from "cloudflare:workers";
            import http from "node:http";
            const run = ${code};
            export default class extends WorkerEntrypoint {
              async run(input) {
                return JSON.stringify(await run(input, { connect, http, ctx: this.ctx }));
              }
            }`),
      },
    };
    const worker = env.LOADER.load(
      workerCode({
        built,
        env: {},
        agentServer: ctx.exports.AgentServer({ props: ref }),
        limits: { cpuMs: 30_000, subRequests: 50 },
        outbound: ctx.exports.Outbound({ props: { ...ref, hosts } }),
        tail: ctx.exports.RevisionTail({ props: ref }),
      }),
    );
    const { run } = worker.getEntrypoint() as unknown as {
      run: (input: unknown) => Promise<string>;
    };
    try {
      return Response.json({ value: JSON.parse((await run(input)) ?? "null") });
    } catch (error) {
      return Response.json({ error: String(error) });
    }
  },
} satisfies ExportedHandler<Env>;

function jsModule(text: string): BuiltModule {
  return { type: "js", bytes: new TextEncoder().encode(text) };
}
