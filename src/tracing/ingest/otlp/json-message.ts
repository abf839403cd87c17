import { InvalidTraces } from "./otlp-error.ts";

const NUMBER_WORDS = new Set(["NaN", "Infinity", "-Infinity"]);

/**
 * A message in the JSON mapping of protobuf. Fields are asked for by their lowerCamelCase names, and
 * found by the names of the .proto file too; null is as good as absent, and so is the default value.
 * What is not of the asked type throws InvalidTraces. Unknown fields are not looked at.
 */
export class JsonMessage {
  readonly #fields: Record<string, unknown>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new InvalidTraces(`${path} should be an object`);
    }
    this.#fields = value as Record<string, unknown>;
    this.#path = path;
  }

  value(field: string): unknown {
    if (Object.hasOwn(this.#fields, field)) return this.#fields[field] ?? undefined;
    const original = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return Object.hasOwn(this.#fields, original)
      ? (this.#fields[original] ?? undefined)
      : undefined;
  }

  has(field: string): boolean {
    return this.value(field) !== undefined;
  }

  message(field: string): JsonMessage {
    return new JsonMessage(this.value(field) ?? {}, this.#pathOf(field));
  }

  messages(field: string): JsonMessage[] {
    const value = this.value(field);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.invalid(field, "a list");
    return value.map(
      (item: unknown, index) => new JsonMessage(item, `${this.#pathOf(field)}[${index}]`),
    );
  }

  text(field: string): string {
    const value = this.value(field) ?? "";
    if (typeof value !== "string") throw this.invalid(field, "a string");
    return value;
  }

  bool(field: string): boolean {
    const value = this.value(field) ?? false;
    if (typeof value !== "boolean") throw this.invalid(field, "true or false");
    return value;
  }

  double(field: string): number {
    const value = this.value(field) ?? 0;
    if (typeof value === "number") return value;
    const number = Number(value);
    const isNumber =
      typeof value === "string" &&
      value.trim() !== "" &&
      (Number.isFinite(number) || NUMBER_WORDS.has(value));
    if (!isNumber) throw this.invalid(field, "a number");
    return number;
  }

  /** A number, or a text of digits, as 64 bits do not fit into a number. */
  integer(field: string): bigint | undefined {
    const value = this.value(field);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
    // 64 bits have at most 20 characters; a BigInt of megabytes would take seconds.
    if (typeof value === "string" && /^-?\d{1,20}$/.test(value)) return BigInt(value);
    throw this.invalid(field, "an integer");
  }

  invalid(field: string, expected: string): InvalidTraces {
    return new InvalidTraces(`${this.#pathOf(field)} should be ${expected}`);
  }

  #pathOf(field: string): string {
    return this.#path === "the body" ? field : `${this.#path}.${field}`;
  }
}
