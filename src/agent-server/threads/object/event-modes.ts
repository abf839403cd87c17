/** `messages-tuple` and legacy `messages` share the name; control events always pass. */
export function isOfModes(event: string, modes: readonly string[]): boolean {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  if (name === "metadata" || name === "error") return true;
  return modes.includes(name) || (name === "messages" && modes.includes("messages-tuple"));
}
