/** A header such as `form-data; name="a"`: the value, and its parameters with lower-case names. */
export type HeaderValue = { value: string; parameters: Map<string, string> };

/** A quoted text must reach to the next parameter: some clients leave quotes in a name unescaped. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"(?=\s*(?:;|$))|([^;]*))/g;

export function parseHeaderValue(header: string): HeaderValue {
  const end = header.indexOf(";");
  const value = (end === -1 ? header : header.slice(0, end)).trim();
  const parameters = new Map<string, string>();
  for (const [, name, quoted, bare] of header.matchAll(PARAMETER)) {
    if (name === undefined) continue;
    const text = quoted?.replaceAll(/\\(["\\])/g, "$1") ?? unquote((bare ?? "").trim());
    parameters.set(name.toLowerCase(), text);
  }
  return { value, parameters };
}

/** The header without one of its parameters. */
export function formatHeaderValue({ value, parameters }: HeaderValue, without: string): string {
  const kept = [...parameters].filter(([name]) => name !== without);
  return [value, ...kept.map(([name, text]) => `${name}=${quote(text)}`)].join("; ");
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function quote(text: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(text)) return text;
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
