/** Returns how often each letter occurs in a text: enough to tell tea from cake. */
export function embed(texts: string[]): number[][] {
  return texts.map((text) => {
    const vector = Array.from({ length: 26 }, () => 0);
    for (const letter of text.toLowerCase().match(/[a-z]/g) ?? []) {
      const index = letter.charCodeAt(0) - 97;
      vector[index] = (vector[index] ?? 0) + 1;
    }
    return vector;
  });
}
