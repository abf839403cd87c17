/** Returns the headers of a user of the projects in `test/fixtures/custom-auth`: a name, or a user with rules. */
export function bearer(user: string | object): Record<string, string> {
  const token = typeof user === "string" ? user : JSON.stringify(user);
  return { authorization: `Bearer ${token}` };
}
