import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import { mapLimited } from "../../src/lib/map-limited.ts";
import { readArchive } from "../../src/lib/package-archive.ts";
import {
  BUILD_LOCALLY,
  type LargestPackage,
  largestOf,
  MAX_INSTALLED_BYTES,
  MAX_PACKAGES,
  type PackageSource,
} from "../../src/lib/remote-build.ts";
import { CliError } from "../cli-error.ts";
import type { BuildLog } from "./build-log.ts";
import type { InstallPlan } from "./lockfile.ts";
import { files } from "./node-fs.ts";

/** Maximum requests in flight of a Worker. */
const AT_ONCE = 6;

/** The result of an installation: totals, and how many packages came from the cache. */
export type Installed = {
  packages: number;
  cached: number;
  bytes: number;
  largest: LargestPackage | null;
  /** Digests of the packages by their folders. */
  digests: { folder: string; digest: string }[];
};

/**
 * Puts the packages of a plan into their folders. Throws a `CliError` that names the package that cannot be
 * installed, or with which the limit is exceeded.
 */
export async function installPackages(
  plan: InstallPlan,
  source: PackageSource,
  log: Pick<BuildLog, "info">,
): Promise<Installed> {
  const { packages, links } = plan;
  if (packages.length > MAX_PACKAGES) {
    throw new CliError(
      `the project has ${packages.length} packages, and ${MAX_PACKAGES} are the most: ${BUILD_LOCALLY}`,
    );
  }
  const installed: Installed = {
    packages: packages.length,
    cached: 0,
    bytes: 0,
    largest: null,
    digests: [],
  };
  await mapLimited(packages, AT_ONCE, async ({ locked, folder }) => {
    const answer = await source.get(locked);
    if (!answer.ok) throw new CliError(answer.message);
    installed.bytes += answer.archive.length;
    installed.digests.push({ folder, digest: answer.digest });
    if (answer.isCached) installed.cached += 1;
    else log.info(`Fetched ${locked.name}@${locked.version}`);
    if (installed.largest === null || answer.archive.length > installed.largest.bytes) {
      const name = `${locked.name}@${locked.version}`;
      installed.largest = { name, bytes: answer.archive.length };
    }
    if (installed.bytes > MAX_INSTALLED_BYTES) {
      throw new CliError(
        `the packages of the project have more than ${MAX_INSTALLED_BYTES / BYTES_PER_MB} MB, and ${largestOf(installed.largest)}: ${BUILD_LOCALLY}`,
      );
    }
    for (const { path, ...stored } of readArchive(answer.archive)) {
      files.put(`${folder}/${path}`, stored);
    }
  });
  for (const { path, target } of links) files.link(path, target);
  return installed;
}
