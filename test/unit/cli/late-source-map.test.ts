import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, test, vi } from "vitest";
import { LateSourceMap, SourceMapTimer } from "../../../cli/platform/late-source-map.ts";
import { sourceMapper } from "../../../cli/platform/stack-frames.ts";
import { buildProject } from "../../../cli/project/build-project.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const AGENT = `type None = never;
export const graph = (): None => {
  throw new Error("no");
};`;

const IDLE_MS = 5_000;

type Started = {
  folder: string;
  maps: string;
  code: string;
  /** Returns the map of the code that was built first, as a start of it has it. */
  map: () => LateSourceMap;
  /** How often the project was bundled for a map. */
  bundled: () => number;
};

/** Builds a project without a source map. */
async function start(): Promise<Started> {
  const folder = temporaryProject({
    "host.js": "export const defineGraphHost = (project) => project;",
    "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    "agent.ts": AGENT,
  });
  const build = (outFile: string, sourceMap: boolean): Promise<unknown> =>
    buildProject({
      configPath: folder,
      outFile,
      sourceMap,
      graphHostModule: join(folder, "host.js"),
      schemas: false,
      compact: true,
    });
  const outFile = join(folder, "out/project.js");
  const maps = join(folder, "out/maps");
  await build(outFile, false);
  const code = readFileSync(outFile, "utf8");
  let bundled = 0;
  const bundle = (file: string): Promise<unknown> => {
    bundled += 1;
    return build(file, true);
  };
  const map = (): LateSourceMap => new LateSourceMap({ folder: maps, code, bundle });
  return { folder, maps, code, map, bundled: () => bundled };
}

/** Returns the location of the error in the bundle, and in the project. */
function places({ folder, code }: Started): { bundled: string; source: string } {
  const lines = code.slice(0, code.indexOf('throw new Error("no")')).split("\n");
  return {
    bundled: `project.js:${lines.length}:${(lines.at(-1) ?? "").length + 1}`,
    source: `${relative(process.cwd(), join(folder, "agent.ts"))}:3:3`,
  };
}

describe("the source map of a module that was bundled without one", () => {
  test("is made when it is needed, once for all starts of the same code", async ({ expect }) => {
    const started = await start();
    const { bundled, source } = places(started);
    expect(readdirSync(join(started.folder, "out"))).toEqual(["project.js"]);

    const map = started.map();
    const mapFrames = sourceMapper(() => map.file());
    expect(await Promise.all([mapFrames(`at ${bundled}`), mapFrames(`by ${bundled}`)])).toEqual([
      `at ${source}`,
      `by ${source}`,
    ]);
    expect(await sourceMapper(() => started.map().file())(bundled)).toBe(source);
    expect(started.bundled()).toBe(1);
    expect(readdirSync(started.maps)).toEqual([expect.stringMatching(/^\w{64}\.map$/)]);
  });

  test.for([
    ["are others", `// A line that moves the others.\n${AGENT}export const more = graph;`],
    ["do not build", "export const graph ="],
  ] as const)("is not made when the sources %s by then", async ([, source], { expect }) => {
    const started = await start();
    const { bundled } = places(started);
    writeFileSync(join(started.folder, "agent.ts"), source.replace("no", "none"));

    expect(await sourceMapper(() => started.map().file())(`at ${bundled}`)).toBe(`at ${bundled}`);
    expect(started.bundled()).toBe(1);
    rmSync(started.maps, { recursive: true, force: true });
  });

  test("is not taken from another version of the module", async ({ expect }) => {
    const started = await start();
    const file = await started.map().file();
    const other = new LateSourceMap({
      folder: started.maps,
      code: `${started.code}\n`,
      bundle: () => Promise.reject(new Error("It does not build")),
    });

    expect(file).toBeDefined();
    expect(await other.file()).toBeUndefined();
  });
});

describe("the map of the version that is served", () => {
  const version = (): { map: LateSourceMap; made: () => boolean } => {
    let made = false;
    const bundle = (): Promise<unknown> => {
      made = true;
      return Promise.reject(new Error("This is enough"));
    };
    const map = new LateSourceMap({ folder: "/nonexistent", code: "", bundle });
    return { map, made: () => made };
  };

  test("is made after a while, and not if another version has taken its place by then", ({
    expect,
    onTestFinished,
  }) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const [first, second] = [version(), version()];
    const timer = new SourceMapTimer();

    timer.serve(first.map);
    vi.advanceTimersByTime(IDLE_MS - 1);
    timer.serve(second.map);
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect([first.made(), second.made()]).toEqual([false, false]);
    vi.advanceTimersByTime(1);
    expect([first.made(), second.made()]).toEqual([false, true]);
  });

  test("is not made any more when the server stops, and nothing writes it after that", async ({
    expect,
    onTestFinished,
  }) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const [first, second] = [version(), version()];
    const timer = new SourceMapTimer();
    timer.serve(first.map);
    await timer.stop();
    vi.advanceTimersByTime(IDLE_MS);
    expect(first.made()).toBe(false);

    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const slow = new LateSourceMap({ folder: "/nonexistent", code: "", bundle: () => ended });
    timer.serve(second.map);
    timer.serve(slow);
    void slow.file();
    let stopped = false;
    const stopping = timer.stop().then(() => {
      stopped = true;
    });
    await Promise.resolve();
    expect(stopped).toBe(false);
    end();
    await stopping;
  });
});
