import { WorkerEntrypoint } from "cloudflare:workers";
import { parseSettings } from "../../env.ts";
import { readLimited } from "../../lib/bytes.ts";
import {
  type LockedPackage,
  MAX_PACKAGE_BYTES,
  type PackageAnswer,
  type PackageSource,
} from "../../lib/remote-build.ts";
import { hasIntegrity, type Integrity, parseIntegrity, repackPackage } from "./package-tarball.ts";

const FETCH_TIMEOUT_MS = 60_000;

/** A change of what is kept of a package takes another folder. */
const CACHE_PREFIX = "packages/1/";

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const VERSION = /^\d+\.\d+\.\d+[\w.+-]*$/;

/**
 * Where a build has its packages from, and its only way out: the registry of the installation, or what is kept of an
 * earlier fetch. What is kept has the digest of its tarball as its name, and is kept only when it has that digest,
 * so no project can put there what another one would be given.
 */
export class BuildPackages extends WorkerEntrypoint<Env> implements PackageSource {
  async get(wanted: LockedPackage): Promise<PackageAnswer> {
    const { name, version } = wanted;
    const integrity = parseIntegrity(wanted.integrity);
    if (!NAME.test(name) || !VERSION.test(version)) {
      return refused(`${name}@${version} is no name and version of a package`);
    }
    if (integrity === null) {
      return refused(`${name}@${version} has an integrity that is none: ${wanted.integrity}`);
    }
    const key = cacheKey(integrity);
    const kept = await this.env.SOURCES.get(key);
    if (kept !== null) {
      return { ok: true, archive: new Uint8Array(await kept.arrayBuffer()), isCached: true };
    }
    const tarball = await this.#download(name, version);
    if (typeof tarball === "string") return refused(`${name}@${version} ${tarball}`);
    if (!(await hasIntegrity(tarball, integrity))) {
      return refused(
        `${name}@${version} is not what the lockfile says: the registry's archive has another digest than ${wanted.integrity}`,
      );
    }
    let archive: Uint8Array;
    try {
      archive = await repackPackage(tarball);
    } catch (error) {
      return refused(`${name}@${version} cannot be unpacked: ${String(error)}`);
    }
    await this.env.SOURCES.put(key, archive);
    return { ok: true, archive, isCached: false };
  }

  /** The archive, or the rest of the sentence that says why there is none. It throws for what time may mend. */
  async #download(name: string, version: string): Promise<Uint8Array | string> {
    const { npmRegistry, npmToken } = parseSettings(this.env);
    const file = `${name.slice(name.lastIndexOf("/") + 1)}-${version}.tgz`;
    const headers = npmToken === "" ? {} : { authorization: `Bearer ${npmToken}` };
    const response = await fetch(`${npmRegistry}/${name}/-/${file}`, {
      headers,
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    if (!response.ok) {
      await response.body?.cancel();
      if (response.status >= 500 || response.status === 429) {
        throw new Error(`The registry answers ${response.status} for ${name}@${version}`);
      }
      return `is not in the registry, which answers ${response.status}`;
    }
    const bytes = await readLimited(response.body, MAX_PACKAGE_BYTES);
    return bytes ?? `is too large: more than ${MAX_PACKAGE_BYTES} bytes`;
  }
}

function refused(message: string): PackageAnswer {
  return { ok: false, message };
}

function cacheKey({ algorithm, digest }: Integrity): string {
  return `${CACHE_PREFIX}${algorithm}-${Buffer.from(digest).toString("hex")}`;
}
