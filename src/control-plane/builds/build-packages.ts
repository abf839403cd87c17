import { WorkerEntrypoint } from "cloudflare:workers";
import { z } from "zod";
import { parseSettings } from "../../env.ts";
import { BYTES_PER_MB, readLimited } from "../../lib/bytes.ts";
import {
  BUILD_LOCALLY,
  type LockedPackage,
  MAX_KEPT_BUNDLES_BYTES,
  MAX_PACKAGE_BYTES,
  MAX_PACKAGE_UNPACKED_BYTES,
  type PackageAnswer,
  type PackageSource,
} from "../../lib/remote-build.ts";
import type { DeclarationSource, SchemasAnswer, TypesRequest } from "../../lib/remote-types.ts";
import type { BuildProps } from "./build-isolate.ts";
import {
  hasIntegrity,
  parseIntegrity,
  repackDeclarations,
  repackPackage,
} from "./package-tarball.ts";
import { schemasOfTypes } from "./type-isolate.ts";

/** Node's error code for an archive that unpacks to more than the limit. */
const TOO_LARGE = "ERR_BUFFER_TOO_LARGE";

const FETCH_TIMEOUT_MS = 60_000;

/** The cache's folder. It must change whenever the format of the cached packages changes. */
const CACHE_PREFIX = "packages/2/";

/** Cached declarations of packages that types have led to. */
const DECLARATIONS_PREFIX = "packages/types/1/";

/** Cached bundles of packages, by workspace. */
const BUNDLES_PREFIX = "packages/bundles/1/";
const DIGEST = /^[0-9a-f]{64}$/;

/** The part that is read of a registry's manifest of one version. The manifest may include a readme. */
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const published = z.object({ dist: z.object({ integrity: z.string().optional() }) });

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const VERSION = /^\d+\.\d+\.\d+[\w.+-]*$/;

/**
 * Provides the packages of a build, and is its only connection to the outside: it reads the installation's
 * registry, or the cache. A cached package is named by the digest of its tarball, and is stored only when the
 * tarball has that digest, so no project can change what another one gets. Bundles have no such name, so each
 * workspace has its own.
 */
export class BuildPackages
  extends WorkerEntrypoint<Env, BuildProps>
  implements PackageSource, DeclarationSource
{
  get(wanted: LockedPackage): Promise<PackageAnswer> {
    return this.#repacked(wanted, CACHE_PREFIX, repackPackage);
  }

  async declarations(wanted: LockedPackage): Promise<Uint8Array | null> {
    const answer = await this.#repacked(wanted, DECLARATIONS_PREFIX, repackDeclarations);
    return answer.ok ? answer.archive : null;
  }

  /**
   * Returns the schemas from the types of a workspace's project, or warnings that say why some are missing. Types
   * never make a build fail.
   */
  schemas(request: TypesRequest): Promise<SchemasAnswer> {
    this.#assertGoesOn();
    return schemasOfTypes(this.env, this.ctx.exports, request, this.ctx.props);
  }

  /** Returns a package from the cache, or else downloads it, repacks it and caches it below the prefix. */
  async #repacked(
    wanted: LockedPackage,
    prefix: string,
    repack: (tarball: Uint8Array) => Promise<Uint8Array>,
  ): Promise<PackageAnswer> {
    const { name, version } = wanted;
    this.#assertGoesOn();
    if (!NAME.test(name) || !VERSION.test(version)) {
      return refused(`${name}@${version} is not a valid name and version of a package`);
    }
    const named = wanted.integrity ?? (await this.#integrityOf(name, version));
    if (named === null) {
      return refused(`${name}@${version} has no digest in the registry, nor in the lockfile`);
    }
    const integrity = parseIntegrity(named);
    if (integrity === null) {
      return refused(`${name}@${version} has an invalid integrity: ${named}`);
    }
    const digest = `${integrity.algorithm}-${Buffer.from(integrity.digest).toString("hex")}`;
    const key = prefix + digest;
    const kept = await this.env.SOURCES.get(key);
    if (kept !== null) {
      return {
        ok: true,
        archive: new Uint8Array(await kept.arrayBuffer()),
        digest,
        isCached: true,
      };
    }
    const tarball = await this.#download(name, version);
    if (typeof tarball === "string") return refused(`${name}@${version} ${tarball}`);
    if (!(await hasIntegrity(tarball, integrity))) {
      return refused(
        `${name}@${version} is not what the ${wanted.integrity === null ? "registry states" : "lockfile says"}: the registry's archive has another digest than ${named}`,
      );
    }
    let archive: Uint8Array;
    try {
      archive = await repack(tarball);
    } catch (error) {
      const isTooLarge = error instanceof Error && "code" in error && error.code === TOO_LARGE;
      return refused(
        isTooLarge
          ? `${name}@${version} is too large: more than ${MAX_PACKAGE_UNPACKED_BYTES / BYTES_PER_MB} MB unpacked. To have it, ${BUILD_LOCALLY}`
          : `${name}@${version} cannot be unpacked: ${String(error)}`,
      );
    }
    await this.env.SOURCES.put(key, archive);
    return { ok: true, archive, digest, isCached: false };
  }

  /** Returns the bundles that another build of the workspace has cached for the same inputs. */
  async bundles(decidedBy: string): Promise<Uint8Array | null> {
    const kept = await this.env.SOURCES.get(this.#bundlesKey(decidedBy));
    if (kept?.customMetadata?.["decidedBy"] === decidedBy) {
      return new Uint8Array(await kept.arrayBuffer());
    }
    await kept?.body.cancel();
    return null;
  }

  async keepBundles(decidedBy: string, archive: Uint8Array): Promise<void> {
    const key = this.#bundlesKey(decidedBy);
    if (archive.length > MAX_KEPT_BUNDLES_BYTES) {
      throw new RangeError(`${archive.length} bytes are more than is kept of a build`);
    }
    await this.env.SOURCES.put(key, archive, { customMetadata: { decidedBy } });
  }

  /**
   * Returns the cache key of bundles. A workspace has sixteen keys, and new bundles overwrite the old ones of
   * their key. This bounds the size of the cache without any clean-up.
   */
  #bundlesKey(decidedBy: string): string {
    this.#assertGoesOn();
    if (!DIGEST.test(decidedBy))
      throw new TypeError("The inputs of bundles must be named by a digest");
    return `${BUNDLES_PREFIX}${this.ctx.props.workspaceId}/${decidedBy.slice(0, 1)}`;
  }

  /** Throws when the build has been given up. Its isolate continues until it makes a request. */
  #assertGoesOn(): void {
    if (Date.now() > this.ctx.props.endsAt) throw new Error("The build has been given up");
  }

  /**
   * Downloads a package's archive. Returns a text that completes an error message when there is none, and throws
   * for failures that may pass with time.
   */
  async #download(name: string, version: string): Promise<Uint8Array | string> {
    const file = `${name.slice(name.lastIndexOf("/") + 1)}-${version}.tgz`;
    const response = await this.#ask(`${name}/-/${file}`, `${name}@${version}`);
    if (!response.ok) return `is not in the registry, which answers ${response.status}`;
    const bytes = await readLimited(response.body, MAX_PACKAGE_BYTES);
    return (
      bytes ??
      `is too large: more than ${MAX_PACKAGE_BYTES / BYTES_PER_MB} MB. To have it, ${BUILD_LOCALLY}`
    );
  }

  /**
   * Returns the integrity that the registry states for a version; null when the registry lacks the version or the
   * integrity.
   */
  async #integrityOf(name: string, version: string): Promise<string | null> {
    const path = `${name.replace("/", "%2f")}/${encodeURIComponent(version)}`;
    const response = await this.#ask(path, `${name}@${version}`);
    const bytes = response.ok ? await readLimited(response.body, MAX_MANIFEST_BYTES) : null;
    if (bytes === null) return null;
    const { data } = published.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return data?.dist.integrity ?? null;
  }

  /**
   * Sends a request to the registry, and throws for failures that may pass with time. A response that is not `ok`
   * has no body left.
   */
  async #ask(path: string, wanted: string): Promise<Response> {
    const { npmRegistry, npmToken } = parseSettings(this.env);
    const headers = npmToken === "" ? {} : { authorization: `Bearer ${npmToken}` };
    const response = await fetch(`${npmRegistry}/${path}`, {
      headers,
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status < 500 && response.status !== 429) return response;
    throw new Error(`The registry answers ${response.status} for ${wanted}`);
  }
}

function refused(message: string): PackageAnswer {
  return { ok: false, message };
}
