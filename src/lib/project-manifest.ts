import { z } from "zod";

/** In the root of a built project's tarball: what is in there and how to run it. */
export const MANIFEST_FILE = "threadworks.json";

/** Of the runtime that builds bundle with graphs; goes up when a platform cannot run older ones. */
export const RUNTIME_VERSION = 1;

/** Of a tarball: compressed, and what is in it all together. A build holds it several times, in 128 MB. */
export const MAX_TARBALL_BYTES = 10 * 1024 * 1024;
export const MAX_UNPACKED_BYTES = 24 * 1024 * 1024;

/** Endings of the files that graphs may read at run time. */
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
  /** Of this file. */
  format: z.literal(1),
  runtime: z.int().positive(),
  /** The module that exports the class `GraphHost`, a path in the tarball. */
  main: z.string().min(1),
});

export type ProjectManifest = z.infer<typeof projectManifest>;
