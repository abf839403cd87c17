export const DIMS = 1536;

/** Returns numbers from -1 to 1 that look random and are the same for the same seed. */
export function vectorOf(seed: number): Float32Array {
  let state = seed + 1;
  return Float32Array.from({ length: DIMS }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  });
}
