/** Reads types as the isolate of a build does, in a thread that has the declarations of this repository's packages. */
import { getBuiltinModule } from "node:process";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { readTypes } from "../../../../cli/type-reader/read-types.ts";
import { packArchive } from "../../../../src/lib/package-archive.ts";
import type { TypesRequest } from "../../../../src/lib/remote-types.ts";

/** The bundle replaces these functions by a file system in memory. */
const { readdirSync, readFileSync } = getBuiltinModule("node:fs");

const { request, root } = workerData as { request: TypesRequest; root: string };
const asked: string[] = [];

async function declarations({ name }: { name: string }): Promise<Uint8Array> {
  asked.push(name);
  const folder = join(root, "node_modules", name);
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => /\.d\.[cm]?ts$|(?:^|\/)package\.json$/.test(path) && !path.includes("node_modules/"),
  );
  return packArchive(paths.map((path) => ({ path, bytes: readFileSync(join(folder, path)) })));
}

const read = await readTypes(request, { declarations });
parentPort?.postMessage({ ...read, asked }, []);
