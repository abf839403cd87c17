import templates from "#templates";

/** Projects that are shipped with the installation and can be deployed by name. */
export const TEMPLATE_IDS: readonly string[] = Object.keys(templates);

/** A built project; null for an unknown template. */
export function templateTarball(id: string): ArrayBuffer | null {
  const base64 = Object.hasOwn(templates, id) ? templates[id] : undefined;
  if (base64 === undefined) return null;
  const bytes = Buffer.from(base64, "base64");
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}
