import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { schemasOfTypes } from "../../src/control-plane/builds/type-isolate.ts";
import { packArchive } from "../../src/lib/package-archive.ts";
import type { SchemasAnswer, TypesRequest } from "../../src/lib/remote-types.ts";

const SOURCE = "export interface State { topic: string }";
const NONE = "no schemas could be read from the graphs' types: ";

/** The time that a build has left when it requests its types, 30 seconds of which are reserved. */
const TIME_MS = 120_000;

type Reading = {
  workspaceId?: string;
  /** The body of the isolate's function, in place of the installation's own. */
  code?: string;
  source?: string;
  links?: TypesRequest["links"];
  leftMs?: number;
};

/** Reads types in a separate isolate, as a build does. */
function read({
  workspaceId = crypto.randomUUID(),
  code,
  source = SOURCE,
  links = [],
  leftMs = TIME_MS,
}: Reading): Promise<SchemasAnswer> {
  const module = `import { WorkerEntrypoint } from "cloudflare:workers";
    export class TypeReader extends WorkerEntrypoint { async read(request) { ${code} } }
    export default {};`;
  const fetchFile = (url: URL): Promise<Response> =>
    code !== undefined && url.pathname.endsWith("type-reader.js")
      ? Promise.resolve(new Response(module))
      : env.CONSOLE.fetch(url);
  const given = { ...env, CONSOLE: { fetch: fetchFile } } as unknown as Env;
  const bytes = new TextEncoder().encode(source);
  const request: TypesRequest = {
    sources: packArchive([{ path: "/repository/agent.ts", bytes }]),
    projectDir: "/repository",
    graphs: [{ id: "agent", file: "/repository/agent.ts", exportName: "graph" }],
    packages: [],
    links,
  };
  return schemasOfTypes(given, exports, request, { workspaceId, endsAt: Date.now() + leftMs });
}

const tell = (topic: string) =>
  `return { schemas: { agent: { agent: { input: { title: "${topic}" } } } }, warnings: [] };`;
const told = (topic: string) => ({ agent: { agent: { input: { title: topic } } } });

test("schemas are cached for the same types of the same workspace", async () => {
  const workspaceId = crypto.randomUUID();
  const first = { schemas: told("first"), warnings: [], isKept: false };
  expect(await read({ workspaceId, code: tell("first") })).toEqual(first);
  expect(await read({ workspaceId, code: tell("second") })).toEqual({ ...first, isKept: true });

  const others: Reading[] = [
    { source: `${SOURCE};` },
    { workspaceId: crypto.randomUUID() },
    { links: [{ path: "/repository/node_modules/a", target: "/repository/a" }] },
  ];
  for (const other of others) {
    expect(await read({ workspaceId, code: tell("other"), ...other })).toEqual({
      schemas: told("other"),
      warnings: [],
      isKept: false,
    });
  }
});

test("an invalid cached answer is replaced", async () => {
  const workspaceId = crypto.randomUUID();
  await read({ workspaceId, code: tell("first") });
  const { objects } = await env.SOURCES.list({
    prefix: `packages/schemas/1/${workspaceId}/`,
    include: ["customMetadata"],
  });
  expect(objects).toHaveLength(1);
  for (const { key, customMetadata = {} } of objects) {
    await env.SOURCES.put(key, "{", { customMetadata });
  }
  expect(await read({ workspaceId, code: tell("second") })).toMatchObject({
    schemas: told("second"),
    isKept: false,
  });
});

test.for(["Worker exceeded memory limit.", "Worker exceeded CPU time limit."])(
  "an isolate does not get a request again that was too much for it: %s",
  async (message) => {
    const workspaceId = crypto.randomUUID();
    const code = `throw new Error(${JSON.stringify(message)});`;
    const warnings = [`${NONE}that needs more memory or CPU time than an isolate has`];
    expect(await read({ workspaceId, code })).toEqual({ schemas: {}, warnings, isKept: false });
    expect(await read({ workspaceId, code: tell("later") })).toEqual({
      schemas: {},
      warnings,
      isKept: true,
    });
  },
);

test.for([
  [
    "takes too long",
    "await new Promise((resolve) => setTimeout(resolve, 60_000));",
    30_500,
    "that takes more time than a build has for it",
  ],
  [
    "comes when its build is nearly over",
    tell("late"),
    29_000,
    "that takes more time than a build has for it",
  ],
  [
    "breaks",
    'throw new Error("The registry answers 503");',
    TIME_MS,
    "Error: The registry answers 503",
  ],
] as const)(
  "a reader that %s causes a warning, and is retried",
  async ([, code, leftMs, problem]) => {
    const workspaceId = crypto.randomUUID();
    expect(await read({ workspaceId, code, leftMs })).toEqual({
      schemas: {},
      warnings: [NONE + problem],
      isKept: false,
    });
    expect(await read({ workspaceId, code: tell("later") })).toMatchObject({ isKept: false });
  },
);

test("the installation's own reader reports what is wrong with a graph", async () => {
  expect(await read({})).toEqual({
    schemas: {},
    warnings: [`${NONE}Failed to find export "graph"`],
    isKept: false,
  });
});
