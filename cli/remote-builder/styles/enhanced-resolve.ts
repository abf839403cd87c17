/**
 * The part of `enhanced-resolve` that Tailwind uses. Style sheets are resolved by esbuild. Imports of code
 * are refused, because a build on the platform does not run any code of a project.
 */
import { BUILD_LOCALLY } from "../../../src/lib/remote-build.ts";
import { type PackageResolver, startResolver } from "../../project/package-resolver.ts";

type Found = (error: Error | null, path?: string) => void;
type Resolver = {
  resolve: (context: object, folder: string, id: string, asked: object, found: Found) => void;
};

/** The resolver of all style sheets; an isolate builds one project. */
let styleSheets: PackageResolver | null = null;

async function findStyleSheet(folder: string, id: string): Promise<string> {
  styleSheets ??= startResolver({
    platform: "neutral",
    conditions: ["style"],
    mainFields: ["style"],
    resolveExtensions: [".css"],
  });
  const path = await styleSheets.resolve(id, { resolveDir: folder, kind: "import-rule" });
  if (path === null) throw new Error(`Can't resolve '${id}' in '${folder}'`);
  return path;
}

async function refuseCode(_folder: string, id: string): Promise<string> {
  throw new Error(
    `@plugin and @config run code, which a build on the platform does not, so it cannot load '${id}': ${BUILD_LOCALLY}`,
  );
}

function createResolver({ conditionNames }: { conditionNames: string[] }): Resolver {
  const find = conditionNames.includes("style") ? findStyleSheet : refuseCode;
  return {
    resolve: (_context, folder, id, _asked, found) => {
      find(folder, id).then(
        (path) => found(null, path),
        (error: unknown) => found(error instanceof Error ? error : new Error(String(error))),
      );
    },
  };
}

/** Files are read from memory and need no cache: `new Object(fileSystem)` returns the file system itself. */
const CachedInputFileSystem = Object;

export default { ResolverFactory: { createResolver }, CachedInputFileSystem };
