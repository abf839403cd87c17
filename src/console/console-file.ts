const TYPES: Record<string, string> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/**
 * A file of the built console; null where there is none. The local server reads a folder, which knows no
 * content types, so they are set here for both.
 */
export async function consoleFile(files: Fetcher, path: string): Promise<Response | null> {
  const type = TYPES[path.slice(path.lastIndexOf(".") + 1)];
  if (type === undefined) return null;
  const found = await files.fetch(new URL(path, "https://console/"));
  if (!found.ok) {
    await found.body?.cancel();
    return null;
  }
  return new Response(found.body, {
    headers: { "content-type": type, "x-content-type-options": "nosniff" },
  });
}
