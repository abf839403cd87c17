import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { packTar } from "modern-tar";
import { REPO_ROOT } from "./built-fixtures.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

type Entry = {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
};

type Lock = { lockfileVersion: number; packages: Record<string, Entry> };

type LockedEntry = {
  id: string;
  name: string;
  version: string;
  integrity: string;
  dependencies: [string, string][];
  peers: [string, string][];
};

/** A version of a package, with its gzipped tarball. */
export type Publication = { name: string; version: string; tarball: Uint8Array };

/** A project's manifest and lockfile, as texts. */
export type Manifests = { "package.json": string; "package-lock.json": string };

/**
 * A registry on loopback with this repository's installed packages, at npm's own paths of tarballs. The tarballs are
 * made on request, so lockfiles with their digests are made here, too.
 */
export class NpmRegistry {
  readonly upstream: Upstream;
  /** The tarballs, keyed by `<name>@<version>`. */
  readonly #tarballs: Map<string, Promise<Uint8Array>>;

  /** Promises that the answers of packages wait for, keyed by package name. */
  readonly #held: Map<string, Promise<void>>;

  private constructor(
    upstream: Upstream,
    tarballs: Map<string, Promise<Uint8Array>>,
    held: Map<string, Promise<void>>,
  ) {
    this.upstream = upstream;
    this.#tarballs = tarballs;
    this.#held = held;
  }

  static async start(): Promise<NpmRegistry> {
    const tarballs = new Map<string, Promise<Uint8Array>>();
    const held = new Map<string, Promise<void>>();
    const upstream = await startUpstream((request, response) => {
      const id = decodeURIComponent(request.url ?? "").replace(/^\/(.+)\/([^/]+)$/, "$1@$2");
      const manifest = tarballs.get(id);
      if (manifest !== undefined) {
        void manifest.then((bytes) =>
          response.end(JSON.stringify({ dist: { integrity: integrityOf(bytes) } })),
        );
        return;
      }
      const [, name = "", file = ""] =
        /^\/((?:@[^/]+\/)?[^/]+)\/-\/(.+)\.tgz$/.exec(request.url ?? "") ?? [];
      const version = file.slice(name.slice(name.lastIndexOf("/") + 1).length + 1);
      const found = tarballs.get(`${name}@${version}`);
      if (found === undefined) response.writeHead(404).end();
      else void Promise.all([found, held.get(name)]).then(([bytes]) => response.end(bytes));
    });
    return new NpmRegistry(upstream, tarballs, held);
  }

  get url(): string {
    return this.upstream.url;
  }

  close(): Promise<void> {
    return this.upstream.close();
  }

  /** Delays all requests for a package until the returned function is called. */
  hold(name: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held.set(name, promise);
    return resolve;
  }

  /** Returns the manifests of a project with these dependencies, in this repository's versions. */
  async manifests(
    names: readonly string[],
    { workspace = "" }: { workspace?: string } = {},
  ): Promise<Manifests> {
    const { packages, lockfileVersion } = JSON.parse(
      readFileSync(join(REPO_ROOT, "package-lock.json"), "utf8"),
    ) as Lock;
    const own = Object.fromEntries(
      names.map((name) => [name, packages[`node_modules/${name}`]?.version ?? "missing"]),
    );
    const locked: Record<string, Entry> = {
      "": workspace === "" ? { dependencies: own } : {},
      ...(workspace === "" ? {} : { [workspace]: { dependencies: own } }),
    };
    const reached = new Set(names.map((name) => `node_modules/${name}`));
    for (const folder of reached) {
      const entry = packages[folder];
      if (entry === undefined || !existsSync(join(REPO_ROOT, folder))) continue;
      const name = nameOf(folder);
      const file = `${name.slice(name.lastIndexOf("/") + 1)}-${entry.version}.tgz`;
      locked[folder] = {
        ...entry,
        resolved: `${this.url}/${name}/-/${file}`,
        integrity: await this.#pack(folder, entry.version ?? ""),
      };
      const wanted = {
        ...entry.dependencies,
        ...entry.optionalDependencies,
        ...entry.peerDependencies,
      };
      for (const name of Object.keys(wanted)) reached.add(placeOf(name, folder, packages));
    }
    return {
      "package.json": JSON.stringify({ name: "project", type: "module", dependencies: own }),
      "package-lock.json": JSON.stringify({ lockfileVersion, packages: locked }),
    };
  }

  /** Returns the packages that a project with these dependencies installs, for another registry. */
  async publications(names: readonly string[]): Promise<Publication[]> {
    const { packages } = await this.#locked(names);
    return Promise.all(
      packages.map(async ({ id, name, version }) => {
        const tarball = await this.#tarballs.get(id);
        if (tarball === undefined) throw new Error(`${id} was not packed`);
        return { name, version, tarball };
      }),
    );
  }

  /** Returns the same project with pnpm's lockfile, written as JSON, which is valid YAML. */
  async pnpmManifests(names: readonly string[]): Promise<Record<string, string>> {
    const { manifest, wanted, packages } = await this.#locked(names);
    const lock = {
      lockfileVersion: "9.0",
      importers: {
        ".": {
          dependencies: Object.fromEntries(
            wanted.map(([name, version]) => [name, { specifier: version, version }]),
          ),
        },
      },
      packages: Object.fromEntries(
        packages.map(({ id, integrity }) => [id, { resolution: { integrity } }]),
      ),
      snapshots: Object.fromEntries(
        packages.map(({ id, dependencies, peers }) => [
          id,
          { dependencies: Object.fromEntries([...dependencies, ...peers]) },
        ]),
      ),
    };
    return { "package.json": manifest, "pnpm-lock.yaml": JSON.stringify(lock) };
  }

  /** Returns the same project with the lockfile of classic or later yarn. Neither says which peer a package gets. */
  async yarnManifests(
    names: readonly string[],
    yarn: "classic" | "berry",
  ): Promise<Record<string, string>> {
    const { manifest, packages } = await this.#locked(names);
    const entries = packages.map(({ name, version, integrity, dependencies }) => {
      const lines = dependencies.map(([dependency, range]) =>
        yarn === "classic"
          ? `    "${dependency}" "${range}"\n`
          : `    "${dependency}": "npm:${range}"\n`,
      );
      const block = lines.length === 0 ? "" : `  dependencies:\n${lines.join("")}`;
      const file = `${name.slice(name.lastIndexOf("/") + 1)}-${version}.tgz`;
      return yarn === "classic"
        ? `"${name}@${version}":\n  version "${version}"\n  resolved "${this.url}/${name}/-/${file}"\n  integrity ${integrity}\n${block}`
        : `"${name}@npm:${version}":\n  version: ${version}\n  resolution: "${name}@npm:${version}"\n${block}  checksum: 10c0/00\n  languageName: node\n  linkType: hard\n`;
    });
    const head = yarn === "classic" ? "# yarn lockfile v1\n\n" : "__metadata:\n  version: 8\n\n";
    return { "package.json": manifest, "yarn.lock": head + entries.join("\n") };
  }

  /** Returns the data of a lockfile without folders: each package once, with the versions of its dependencies. */
  async #locked(names: readonly string[]): Promise<{
    manifest: string;
    wanted: [string, string][];
    packages: LockedEntry[];
  }> {
    const manifests = await this.manifests(names);
    const { packages } = JSON.parse(manifests["package-lock.json"]) as Lock;
    const { "": own, ...installed } = packages;
    const locked = Object.entries(installed).map(([folder, entry]): LockedEntry => {
      const versionsOf = (wanted: Record<string, string> = {}): [string, string][] =>
        Object.keys(wanted).flatMap((name) => {
          const version = installed[placeOf(name, folder, installed)]?.version;
          return version === undefined ? [] : [[name, version]];
        });
      const [name, version] = [nameOf(folder), entry.version ?? ""];
      return {
        id: `${name}@${version}`,
        name,
        version,
        integrity: entry.integrity ?? "",
        dependencies: versionsOf(entry.dependencies),
        peers: versionsOf(entry.peerDependencies),
      };
    });
    return {
      manifest: manifests["package.json"],
      wanted: Object.entries(own?.dependencies ?? {}),
      packages: [...new Map(locked.map((each) => [each.id, each])).values()],
    };
  }

  async #pack(folder: string, version: string): Promise<string> {
    const key = `${nameOf(folder)}@${version}`;
    const packed = this.#tarballs.get(key) ?? packFolder(join(REPO_ROOT, folder));
    this.#tarballs.set(key, packed);
    return integrityOf(await packed);
  }
}

function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

/** Returns the place where Node finds a package that is imported from another package's folder. */
function placeOf(name: string, folder: string, packages: Lock["packages"]): string {
  const outer = folder.split("/node_modules/");
  for (; outer.length > 0; outer.pop()) {
    const place = `${outer.join("/node_modules/")}/node_modules/${name}`;
    if (place in packages) return place;
  }
  return `node_modules/${name}`;
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}

const compress = promisify(gzip);

async function packFolder(folder: string): Promise<Uint8Array> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith("node_modules/"));
  const archive = await packTar(
    names.map((path) => {
      const body = readFileSync(join(folder, path));
      return { header: { name: `package/${path}`, size: body.length }, body };
    }),
  );
  // Compression runs in another thread: otherwise this process would not notice closed connections for seconds.
  return compress(archive, { level: 1 });
}
