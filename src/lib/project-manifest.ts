import { z } from "zod";

/** The file in the root of a built project's tarball that says how to run its contents. */
export const MANIFEST_FILE = "threadworks.json";

/**
 * The version of the runtime that builds bundle with graphs. It is raised when a platform cannot run older
 * versions.
 */
export const RUNTIME_VERSION = 1;

/** Maximum bytes of a tarball, compressed and unpacked. A build holds it several times, in 128 MB of memory. */
export const MAX_TARBALL_BYTES = 10 * 1024 * 1024;
export const MAX_UNPACKED_BYTES = 24 * 1024 * 1024;

/** File extensions of the text files that graphs may read at run time. */
export const TEXT_FILE_TYPES: ReadonlySet<string> = new Set([
  ".csv",
  ".ejs",
  ".gql",
  ".graphql",
  ".hbs",
  ".html",
  ".j2",
  ".jinja",
  ".jinja2",
  ".json",
  ".jsonl",
  ".liquid",
  ".md",
  ".mdx",
  ".mustache",
  ".prompt",
  ".prompty",
  ".sql",
  ".tmpl",
  ".toml",
  ".tpl",
  ".tsv",
  ".txt",
  ".xml",
  ".yaml",
  ".yml",
]);

export const projectManifest = z.strictObject({
  /** The version of this file's format. */
  format: z.literal(1),
  runtime: z.int().positive(),
  /** The path in the tarball of the module that exports the class `GraphHost`. */
  main: z.string().min(1),
});

export type ProjectManifest = z.infer<typeof projectManifest>;
