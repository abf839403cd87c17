/** A piece of JSON text, or where in R2 a piece is. */
export type JsonPart = string | { object: string };

/** A member's name and its JSON; undefined: it is left out. */
export type JsonMember = readonly [name: string, value: JsonPart | undefined];

/** A JSON object in pieces, so that a large member can stay in R2 until it is sent. */
export function jsonObject(members: Iterable<JsonMember>): JsonPart[] {
  const parts: JsonPart[] = [];
  let text = "{";
  let separator = "";
  for (const [name, value] of members) {
    if (value === undefined) continue;
    text += `${separator}${JSON.stringify(name)}:`;
    separator = ",";
    if (typeof value === "string") {
      text += value;
    } else {
      parts.push(text, value);
      text = "";
    }
  }
  return [...parts, `${text}}`];
}
