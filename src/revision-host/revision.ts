export type { RevisionRef } from "../lib/revision-ref.ts";
