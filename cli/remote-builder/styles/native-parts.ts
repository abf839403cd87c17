/**
 * What takes the place of native code that Tailwind has, and does not run here: it optimizes style sheets by Lightning CSS for
 * `NODE_ENV=production`, which is never set in the isolate, and loads plugins by jiti, after they were found, which they never are.
 */
function refuse(): never {
  throw new Error("Native code cannot run on the platform");
}

export const Features = {};
export const transform = refuse;
export const createJiti = refuse;
