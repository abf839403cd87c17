import { InvalidArgumentError } from "commander";

/** Parses an option that is a whole number above 0. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is not a whole number above 0.");
}
