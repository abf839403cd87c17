/** What Tailwind never looks for classes in, unless `@source` names it: what tools make, and what nobody writes classes into. */

export const IGNORED_FOLDERS: ReadonlySet<string> = new Set([
  "node_modules",
  ".git",
  ".hg",
  ".jj",
  ".svn",
  ".next",
  ".parcel-cache",
  ".pnpm-store",
  ".svelte-kit",
  ".turbo",
  ".vercel",
  ".yarn",
  ".venv",
  "venv",
  "__pycache__",
]);

const FILES = /^(?:package-lock\.json|pnpm-lock\.yaml|bun\.lockb|\.gitignore|\.env(?:\..*)?)$/;
const ENDINGS = /\.(?:less|lock|log|s[ac]ss|styl)$/;

/** Texts in form, of which it says that they are binary. What has a zero byte is binary whatever its name. */
const BINARY = /\.(?:dot|dxf|geojson|ps|plist|rtf|xbm|xpm)$/;

export function isIgnoredName(name: string): boolean {
  return FILES.test(name) || ENDINGS.test(name);
}

export function isBinaryName(name: string): boolean {
  return BINARY.test(name);
}
