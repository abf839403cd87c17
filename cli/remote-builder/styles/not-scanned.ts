/**
 * The files in which Tailwind never looks for classes, unless `@source` names them: generated files, and
 * kinds of files without classes.
 */

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

/** Extensions of images, audio and video, fonts, archives, programs, documents and databases. */
const BINARY = new Set(
  [
    "ai avif bmp cur fla gif icns ico jpeg jpg jxr png psd raw sketch swf tif tiff webp xbm xpm",
    "aac aif aiff avi flac flv m4a m4v mid midi mkv mov mp3 mp4 mpeg mpg oga ogg ogv wav weba webm wma wmv",
    "eot otf ttc ttf woff woff2",
    "7z bz2 gz iso jar lz lzma rar tar tbz2 tgz txz war whl xz z zip",
    "a bin class deb dll dmg exe ipa lib node o pyc pyo so wasm",
    "doc docm docx dot epub key numbers odp ods odt pages pdf plist ppt pptx rtf xls xlsm xlsx",
    "DS_Store dat db dxf geojson sqlite sqlite3 lockb storedata",
  ].flatMap((names) => names.split(" ")),
);

export function isIgnoredName(name: string): boolean {
  return FILES.test(name) || ENDINGS.test(name);
}

/** Returns whether a file is binary, judged by its extension only. */
export function isBinaryName(name: string): boolean {
  return BINARY.has(name.slice(name.lastIndexOf(".") + 1));
}
