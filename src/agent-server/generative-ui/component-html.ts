/** Hosts that are reached without TLS: pages of any scheme may load scripts from them. */
const LOCAL = new Set(["localhost", "127.0.0.1"]);

/**
 * The elements that load a component's files, as the reference server writes them: the SDK replaces
 * `{{shadowRootId}}`, and the script calls what the bundle defined under the name of its `ui` entry. `address`
 * is that of the request for them, below which the files are; a proxy may have taken TLS from it.
 */
export function componentHtml(
  { host, hostname, pathname }: URL,
  files: readonly string[],
  { name, component }: { name: string; component: string },
): string {
  const origin = `${LOCAL.has(hostname) ? "http:" : ""}//${host}`;
  const urlOf = (file: string): string =>
    escapeHtml(`${origin}${pathname}/${encodeURIComponent(file)}`);
  const styles = files
    .filter((file) => file.endsWith(".css"))
    .map((file) => `<link rel="stylesheet" href="${urlOf(file)}" />`);
  const bundle = `__LGUI_${name.replace(/[^a-zA-Z0-9]/g, "_")}`;
  const render = escapeHtml(`${bundle}.render(${JSON.stringify(component)}, "{{shadowRootId}}")`);
  const scripts = files
    .filter((file) => file.endsWith(".js"))
    .slice(0, 1)
    .map((file) => `<script src="${urlOf(file)}" onload='${render}'></script>`);
  return [...styles, ...scripts].join("\n");
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("'", "&#39;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
