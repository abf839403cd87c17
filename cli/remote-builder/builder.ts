import { WorkerEntrypoint } from "cloudflare:workers";
import { join } from "node:path";
import graphHost from "./graph-host.js";
import wasmModule from "./esbuild.wasm";
import type {
  BuildAnswer,
  BuildLine,
  BuildRequest,
  PackageSource,
  RemoteBuilderApi,
} from "../../src/lib/remote-build.ts";
import { CliError } from "../cli-error.ts";
import { REPO_ROOT } from "../invocation.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";
import { buildTarball } from "../project/tarball.ts";
import { startEsbuild } from "./esbuild-wasm.ts";
import { installPackages } from "./install-packages.ts";
import { planInstall } from "./lockfile.ts";
import { files } from "./node-fs.ts";
import { unpackRepository } from "./repository.ts";

/** Where the repository is while it is built; errors name paths below it. */
const REPOSITORY = "/repository";

/** Below the platform's sources, so that it counts as the graph host and not as the project's. */
const GRAPH_HOST = join(REPO_ROOT, "src/graph-runtime/graph-host.js");

const BYTES_PER_MB = 1024 * 1024;
const MAX_TOLD = 20;

type Env = { PACKAGES: PackageSource };

/**
 * Builds the project of one repository, in an isolate of its own: what `threadworks build` does, by the same code,
 * on a file system in memory. None of the project's code is run.
 */
export class RemoteBuilder extends WorkerEntrypoint<Env> implements RemoteBuilderApi {
  async build(request: BuildRequest): Promise<BuildAnswer> {
    const lines: BuildLine[] = [];
    const info = (message: string): void => void lines.push({ level: "info", message });
    try {
      const starting = startEsbuild(wasmModule);
      // It is awaited below, unless something else fails before.
      starting.catch(() => {});
      const { archive, isInFolder, configPath } = request;
      const unpacked = await unpackRepository(archive, { into: REPOSITORY, isInFolder });
      info(`The source has ${unpacked.files} files`);
      for (const path of unpacked.tooLarge.slice(0, MAX_TOLD)) {
        lines.push({
          level: "warn",
          message: `${path} is too large for a source, and is left out`,
        });
      }
      files.write(GRAPH_HOST, new TextEncoder().encode(graphHost));
      const config = loadProjectConfig(join(REPOSITORY, configPath));
      const { by, ...plan } = planInstall(config.projectDir, REPOSITORY);
      const installed = await installPackages(plan, this.env.PACKAGES);
      const megabytes = (installed.bytes / BYTES_PER_MB).toFixed(1);
      info(
        `Installed ${installed.packages} packages of ${by}, ${megabytes} MB, ${installed.cached} of them from the cache`,
      );
      await starting;
      const built = await buildTarball({
        configPath: config.configPath,
        schemas: false,
        graphHostModule: GRAPH_HOST,
      });
      for (const warning of built.warnings) {
        lines.push({ level: "warn", message: withoutFolder(warning) });
      }
      info(`Bundled ${built.graphs.join(", ")}`);
      return { ok: true, tarball: built.bytes, lines };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { ok: false, message: withoutFolder(error.message), lines };
    }
  }
}

/** Names files as the repository has them. */
function withoutFolder(message: string): string {
  return message.replaceAll(`${REPOSITORY}/`, "").replaceAll(REPOSITORY, "the project");
}

export default {};
