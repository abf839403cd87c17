import { vectorOf } from "./vectors.ts";

/** The model: each number has its vector. */
export function embed(texts: string[]): Float32Array[] {
  return texts.map((text) => vectorOf(Number(text)));
}
