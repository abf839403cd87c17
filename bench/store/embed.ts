import { vectorOf } from "./vectors.ts";

/** The embedding model: it maps each number to a vector. */
export function embed(texts: string[]): Float32Array[] {
  return texts.map((text) => vectorOf(Number(text)));
}
