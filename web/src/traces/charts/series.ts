/** One line of a chart, or one colour of its bars, with a value for each interval. */
export type Series = {
  name: string;
  tone: "main" | "second" | "bad";
  values: readonly (number | null)[];
};

/**
 * Returns the path of a line. The line is broken where figures are missing; a value between two gaps is a
 * short dash.
 */
export function linePath(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  return values
    .map((value, index) => {
      if (value === null) return "";
      const goesOn = index > 0 && values[index - 1] !== null;
      const place = `${x(index).toFixed(1)},${y(value).toFixed(1)}`;
      const isAlone = !goesOn && values[index + 1] == null;
      return `${goesOn ? "L" : "M"}${place}${isAlone ? "h5" : ""}`;
    })
    .join("");
}
