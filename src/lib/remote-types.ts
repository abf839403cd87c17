import type { LockedPackage } from "./remote-build.ts";

/** What the platform and the isolate that reads the types of a project say to each other, and what bounds that. */

/** Of the project's own sources, unpacked; those that its graphs import, and what says how they are compiled. */
export const MAX_TYPED_SOURCE_BYTES = 4 * 1024 * 1024;

/** Of all texts that the compiler reads: its memory is some thirty times as much, and an isolate has 128 MB. */
export const MAX_TYPE_BYTES = 2.5 * 1024 * 1024;

/** Of all schemas of a project, as JSON: they become part of its code. */
export const MAX_SCHEMAS_BYTES = 1024 * 1024;

export const TYPES_TIMEOUT_MS = 60_000;

export type TypesRequest = {
  /** The project's own files by their absolute paths, as an archive of `package-archive.ts`. */
  sources: Uint8Array;
  /** Absolute, as all paths here are. */
  projectDir: string;
  /** Graphs of TypeScript. */
  graphs: { id: string; file: string; exportName: string }[];
  /** All that is installed, of which the declarations are asked for when the types reach it. */
  packages: { locked: LockedPackage; folder: string }[];
  links: { path: string; target: string }[];
};

/** By graph id, then by graph or subgraph (`agent`, `agent|child`): schemas of its input, output, state and config. */
export type ReadSchemas = {
  schemas: Record<string, Record<string, Record<string, unknown>>>;
  /** Sentences for the log: why some schemas are not there. */
  warnings: string[];
};

/** `isKept`: an earlier build has read them from the same. */
export type SchemasAnswer = ReadSchemas & { isKept: boolean };

/** What an isolate that reads types is bound to. */
export interface DeclarationSource {
  /** The declarations and the manifest of a package, as an archive of `package-archive.ts`; null where it cannot be had. */
  declarations: (wanted: LockedPackage) => Promise<Uint8Array | null>;
}

export interface TypeReaderApi {
  read: (request: TypesRequest) => Promise<ReadSchemas>;
}
