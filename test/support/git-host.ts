import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { startUpstream, type Upstream } from "./upstream.ts";

/** The text of each file, by its path. */
export type Files = Record<string, string>;

type Repository = { refs: Map<string, string>; commits: Map<string, Files>; token: string | null };

const COMMITS = /^\/repos\/([^/]+\/[^/]+)\/commits\/(.+)$/;
const TARBALL = /^\/repos\/([^/]+\/[^/]+)\/tarball\/([0-9a-f]{40})$/;
const ARCHIVE = /^\/archives\/([^/]+\/[^/]+)\/([0-9a-f]{40})$/;

/** The token of an installation's account, which may read all repositories that require it. */
export const ACCOUNT_TOKEN = "of the installation";

function toApiRepository(fullName: string, index: number): object {
  const [login = "", name = ""] = fullName.split("/");
  return { id: index + 1, name, full_name: fullName, owner: { login }, default_branch: "main" };
}

/** The part of GitHub's API that deployments of repositories need, on loopback. */
export class GitHost {
  readonly upstream: Upstream;
  /** The token that identifies the account of an installation. */
  accountToken = ACCOUNT_TOKEN;
  readonly #repositories: Map<string, Repository>;

  private constructor(upstream: Upstream, repositories: Map<string, Repository>) {
    this.upstream = upstream;
    this.#repositories = repositories;
  }

  static async start(): Promise<GitHost> {
    const repositories = new Map<string, Repository>();
    const upstream = await startUpstream((request, response) => {
      const path = request.url ?? "";
      if (path === "/user" || path.startsWith("/user/repos?")) {
        const isAllowed = request.headers.authorization === `Bearer ${host.accountToken}`;
        const page = Number(new URLSearchParams(path.split("?")[1]).get("page"));
        const listed = [...repositories.keys()].toSorted().slice(100 * (page - 1), 100 * page);
        const told =
          path === "/user" ? { id: 583231, login: "acme-bot" } : listed.map(toApiRepository);
        response.writeHead(isAllowed ? 200 : 401).end(JSON.stringify(isAllowed ? told : {}));
        return;
      }
      const [, name = "", rest = ""] =
        COMMITS.exec(path) ?? TARBALL.exec(path) ?? ARCHIVE.exec(path) ?? [];
      const repository = repositories.get(name);
      const isAllowed =
        repository?.token === null ||
        request.headers.authorization === `Bearer ${repository?.token}` ||
        ARCHIVE.test(path);
      if (repository === undefined || !isAllowed) {
        response.writeHead(404).end(JSON.stringify({ message: "Not Found" }));
      } else if (COMMITS.test(path)) {
        const ref = decodeURIComponent(rest);
        const sha = repository.refs.get(ref) ?? (repository.commits.has(ref) ? ref : undefined);
        response.writeHead(sha === undefined ? 422 : 200).end(sha);
      } else if (TARBALL.test(path)) {
        // The archives are on another origin than the API, as those of a real Git host are.
        const location = `http://localhost:${upstream.port}/archives/${name}/${rest}`;
        response.writeHead(302, { location }).end();
      } else {
        const files = repository.commits.get(rest) ?? {};
        void archiveOf(files, `${name.replace("/", "-")}-${rest.slice(0, 7)}/`).then((bytes) =>
          response.end(bytes),
        );
      }
    });
    const host = new GitHost(upstream, repositories);
    return host;
  }

  get url(): string {
    return this.upstream.url;
  }

  /** Variables that make a platform use this as its Git host. */
  get vars(): Record<string, string> {
    return { GITHUB_URL: this.url, GITHUB_API_URL: this.url };
  }

  close(): Promise<void> {
    return this.upstream.close();
  }

  /** Commits these files to a branch, and returns the commit. `token` is required to read the repository. */
  push(
    name: string,
    files: Files,
    { branch = "HEAD", token = null }: { branch?: string; token?: string | null } = {},
  ): string {
    const repository = this.#repositories.get(name) ?? {
      refs: new Map(),
      commits: new Map(),
      token,
    };
    this.#repositories.set(name, repository);
    const sha = createHash("sha1").update(JSON.stringify(files)).digest("hex");
    repository.commits.set(sha, files);
    repository.refs.set(branch, sha);
    return sha;
  }

  urlOf(name: string): string {
    return `${this.url}/${name}`;
  }
}

/** Returns a gzipped tarball of files, each below `folder`. */
async function archiveOf(files: Files, folder = ""): Promise<Uint8Array<ArrayBuffer>> {
  const archive = await packTar(
    Object.entries(files).map(([path, text]) => {
      const body = new TextEncoder().encode(text);
      return { header: { name: folder + path, size: body.length }, body };
    }),
  );
  return new Uint8Array(gzipSync(archive));
}

/** Returns the files of a folder, with paths below `into`. */
export function filesOf(folder: string, into = ""): Files {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [into + path.slice(folder.length + 1), readFileSync(path, "utf8")]),
  );
}
