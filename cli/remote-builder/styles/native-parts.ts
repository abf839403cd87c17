/**
 * Replaces Tailwind's native code, which is never called here. Tailwind uses Lightning CSS to optimise style
 * sheets when `NODE_ENV` is `production`, which is never set in the isolate, and jiti to load plugins that
 * were found, which never happens here.
 */
function refuse(): never {
  throw new Error("Native code cannot run on the platform");
}

export const Features = {};
export const transform = refuse;
export const createJiti = refuse;
