import { WorkerEntrypoint } from "cloudflare:workers";
import { join } from "node:path";
import hostModules from "./host-modules.json";
import graphHost from "./graph-host.js";
import wasmModule from "./esbuild.wasm";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import type {
  BuildAnswer,
  BuildRequest,
  NeedsUiBundler,
  PackageSource,
  RemoteBuilderApi,
  TellBuild,
} from "../../src/lib/remote-build.ts";
import { CliError } from "../cli-error.ts";
import { REPO_ROOT } from "../invocation.ts";
import { loadProjectConfig, noEnvFileWarning } from "../project/langgraph-json.ts";
import { buildTarball } from "../project/tarball.ts";
import { BuildLog } from "./build-log.ts";
import { keepBundles } from "./bundle-graphs.ts";
import { bundleScope } from "./bundle-scope.ts";
import { readSchemasBy, schemasAreKept } from "./extract-schemas.ts";
import { startEsbuild } from "./esbuild-wasm.ts";
import { installPackages } from "./install-packages.ts";
import { KeptBundles } from "./kept-bundles.ts";
import { planInstall } from "./lockfile.ts";
import { files } from "./node-fs.ts";
import { unpackRepository } from "./repository.ts";

/** The folder of the repository during the build; errors name paths below it. */
const REPOSITORY = "/repository";

/** Below the platform's sources, so that it counts as the graph host and not as part of the project. */
const GRAPH_HOST = join(REPO_ROOT, "src/graph-runtime/graph-host.js");

/** The folder for modules that the graph host imports and old versions lack; they count as the graph host's too. */
const HOST_PACKAGES = join(REPO_ROOT, "src/node_modules");

const MAX_TOLD = 20;

type Env = {
  PACKAGES: PackageSource;
  /** Digest of the builder's modules, including the bundler. */
  VERSION: string;
  HAS_UI_BUNDLER: boolean;
};

/**
 * Builds the project of one repository in a separate isolate: it does what `threadworks build` does, with the
 * same code, on a file system in memory. None of the project's code is run.
 */
export class RemoteBuilder extends WorkerEntrypoint<Env> implements RemoteBuilderApi {
  async build(request: BuildRequest, tell: TellBuild): Promise<BuildAnswer | NeedsUiBundler> {
    const log = new BuildLog(tell);
    const answer = await this.#build(request, log);
    await log.flush();
    return answer;
  }

  async #build(request: BuildRequest, log: BuildLog): Promise<BuildAnswer | NeedsUiBundler> {
    try {
      const starting = startEsbuild(wasmModule);
      // It is awaited below, unless something else fails before; its rejection must not be unhandled.
      starting.catch(() => {});
      const { archive, isInFolder, configPath } = request;
      const unpacked = await unpackRepository(archive, { into: REPOSITORY, isInFolder });
      // This comes before any log line, because the isolate that is called next logs everything again.
      if (!this.env.HAS_UI_BUNDLER && hasUi(join(REPOSITORY, configPath))) {
        return { needs: "ui-bundler" };
      }
      log.info(`The source has ${unpacked.files} files`);
      for (const path of unpacked.tooLarge.slice(0, MAX_TOLD)) {
        log.warn(`${path} is too large for a source file, and is left out`);
      }
      writePlatform();
      const config = loadProjectConfig(join(REPOSITORY, configPath));
      const { by, warnings, ...plan } = planInstall(config.projectDir, REPOSITORY);
      for (const warning of warnings) log.warn(warning);
      const installed = await installPackages(plan, this.env.PACKAGES, log);
      const megabytes = (installed.bytes / BYTES_PER_MB).toFixed(1);
      log.info(
        `Installed ${installed.packages} packages of ${by}, ${megabytes} MB, ${installed.cached} of them from the cache`,
        installed.largest === null ? {} : { largest: installed.largest },
      );
      // Lines are sent now, because an isolate that runs out of memory cannot send any.
      await log.flush();
      const { PACKAGES: source, VERSION: version } = this.env;
      const scope = bundleScope({
        version,
        project: config,
        repository: REPOSITORY,
        installed: installed.digests,
        links: plan.links,
      });
      const kept = new KeptBundles(await source.bundles(scope));
      keepBundles(kept);
      readSchemasBy(source, { ...plan, repository: REPOSITORY });
      await starting;
      const built = await buildTarball({
        configPath: config.configPath,
        schemas: true,
        graphHostModule: GRAPH_HOST,
      });
      for (const warning of built.warnings) {
        // Uploaded sources never contain that file: its variables are secrets of the deployment.
        if (config.envFile !== undefined && warning === noEnvFileWarning(config.envFile)) continue;
        log.warn(withoutFolder(warning));
      }
      if (kept.taken > 0) log.info(`Took ${kept.taken} bundles of packages from an earlier build`);
      if (schemasAreKept()) log.info("Took the schemas of types from an earlier build");
      log.info(`Bundled ${built.graphs.join(", ")}`);
      const bundles = kept.pack();
      // When this fails, the next build bundles the packages again.
      if (bundles !== null) await source.keepBundles(scope, bundles).catch(() => {});
      return { ok: true, tarball: built.bytes };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { ok: false, message: withoutFolder(error.message) };
    }
  }
}

/** Returns whether the project has a `ui`; false when its configuration cannot be read, which is reported later. */
function hasUi(configPath: string): boolean {
  try {
    return loadProjectConfig(configPath).ui !== undefined;
  } catch {
    return false;
  }
}

function writePlatform(): void {
  const encoder = new TextEncoder();
  files.write(GRAPH_HOST, encoder.encode(graphHost));
  for (const [name, text] of Object.entries(hostModules)) {
    files.write(join(HOST_PACKAGES, `${name}.js`), encoder.encode(text));
  }
}

/** Replaces the isolate's paths by those of the repository. */
function withoutFolder(message: string): string {
  return message.replaceAll(`${REPOSITORY}/`, "").replaceAll(REPOSITORY, "the project");
}

export default {};
