import type { LockedPackage } from "./remote-build.ts";

/**
 * The messages between the platform and the isolate that reads a project's types, and the limits of reading them.
 */

/** Maximum unpacked bytes of the project's own sources: the files that its graphs import, and compiler options. */
export const MAX_TYPED_SOURCE_BYTES = 4 * 1024 * 1024;

/**
 * Maximum size of all text that the compiler reads. It needs some thirty times as much memory, and an isolate has
 * 128 MB.
 */
export const MAX_TYPE_BYTES = 2.5 * 1024 * 1024;

/** Maximum size of all schemas of a project, as JSON. They become part of its code. */
export const MAX_SCHEMAS_BYTES = 1024 * 1024;

export const TYPES_TIMEOUT_MS = 60_000;

export type TypesRequest = {
  /** The project's own files, keyed by absolute path, as an archive of `package-archive.ts`. */
  sources: Uint8Array;
  /** An absolute path, like all paths here. */
  projectDir: string;
  /** The graphs that are written in TypeScript. */
  graphs: { id: string; file: string; exportName: string }[];
  /** All installed packages. Their declarations are fetched only when the types reach them. */
  packages: { locked: LockedPackage; folder: string }[];
  links: { path: string; target: string }[];
};

/**
 * The schemas of input, output, state and config, keyed by graph id, then by graph or subgraph (`agent`,
 * `agent|child`).
 */
export type ReadSchemas = {
  schemas: Record<string, Record<string, Record<string, unknown>>>;
  /** Sentences for the log that say why some schemas are missing. */
  warnings: string[];
};

/** `isKept` is true when an earlier build read the schemas from the same inputs. */
export type SchemasAnswer = ReadSchemas & { isKept: boolean };

/** The binding through which an isolate that reads types gets declarations. */
export interface DeclarationSource {
  /**
   * Returns a package's declarations and manifest as an archive of `package-archive.ts`; null when they are
   * unavailable.
   */
  declarations: (wanted: LockedPackage) => Promise<Uint8Array | null>;
}

export interface TypeReaderApi {
  read: (request: TypesRequest) => Promise<ReadSchemas>;
}
