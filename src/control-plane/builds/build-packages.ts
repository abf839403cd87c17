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

/** What Node says of an archive that unpacks to more than it may. */
const TOO_LARGE = "ERR_BUFFER_TOO_LARGE";

const FETCH_TIMEOUT_MS = 60_000;

/** A change of what is kept of a package takes another folder. */
const CACHE_PREFIX = "packages/2/";

/** Declarations of packages, of those that types have led to. */
const DECLARATIONS_PREFIX = "packages/types/1/";

/** Bundles of packages, by workspace. */
const BUNDLES_PREFIX = "packages/bundles/1/";
const DIGEST = /^[0-9a-f]{64}$/;

/** What a registry tells of one version: its manifest, which may have a readme in it. */
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const published = z.object({ dist: z.object({ integrity: z.string().optional() }) });

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const VERSION = /^\d+\.\d+\.\d+[\w.+-]*$/;

/**
 * Where a build has its packages from, and its only way out: the registry of the installation, or what is kept of an
 * earlier fetch. What is kept has the digest of its tarball as its name, and is kept only when it has that digest,
 * so no project can put there what another one would be given. Bundles have no such name: each workspace has its own.
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

  /** The schemas that the types of a workspace's project say, or why they say none: types fail no build. */
  schemas(request: TypesRequest): Promise<SchemasAnswer> {
    this.#assertGoesOn();
    return schemasOfTypes(this.env, this.ctx.exports, request, this.ctx.props);
  }

  /** What is kept of a package, or else made of what the registry has of it, and kept below the prefix. */
  async #repacked(
    wanted: LockedPackage,
    prefix: string,
    repack: (tarball: Uint8Array) => Promise<Uint8Array>,
  ): Promise<PackageAnswer> {
    const { name, version } = wanted;
    this.#assertGoesOn();
    if (!NAME.test(name) || !VERSION.test(version)) {
      return refused(`${name}@${version} is no name and version of a package`);
    }
    const named = wanted.integrity ?? (await this.#integrityOf(name, version));
    if (named === null) {
      return refused(`${name}@${version} has no digest in the registry, nor in the lockfile`);
    }
    const integrity = parseIntegrity(named);
    if (integrity === null) {
      return refused(`${name}@${version} has an integrity that is none: ${named}`);
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
        `${name}@${version} is not what the ${wanted.integrity === null ? "registry tells" : "lockfile says"}: the registry's archive has another digest than ${named}`,
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

  /** What another build of the workspace has kept that was decided by the same. */
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
   * A workspace has sixteen places, and what comes to one takes the place of what was there: so much is kept, and no
   * more, and nobody has to look for what is old.
   */
  #bundlesKey(decidedBy: string): string {
    this.#assertGoesOn();
    if (!DIGEST.test(decidedBy)) throw new TypeError("What decides bundles is named by a digest");
    return `${BUNDLES_PREFIX}${this.ctx.props.workspaceId}/${decidedBy.slice(0, 1)}`;
  }

  /** A build that took too long goes on in its isolate, until it asks for something. */
  #assertGoesOn(): void {
    if (Date.now() > this.ctx.props.endsAt) throw new Error("The build has been given up");
  }

  /** The archive, or the rest of the sentence that says why there is none. It throws for what time may mend. */
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

  /** What the registry tells of a version's archive; null where it has no such version, or tells nothing. */
  async #integrityOf(name: string, version: string): Promise<string | null> {
    const path = `${name.replace("/", "%2f")}/${encodeURIComponent(version)}`;
    const response = await this.#ask(path, `${name}@${version}`);
    const bytes = response.ok ? await readLimited(response.body, MAX_MANIFEST_BYTES) : null;
    if (bytes === null) return null;
    const { data } = published.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return data?.dist.integrity ?? null;
  }

  /** An answer that time changes nothing about; what is not `ok` has no body left. */
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
