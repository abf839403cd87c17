import {
  isTextColumn,
  NO_TEXT,
  type PackedRuns,
  type PackedTexts,
  type RunColumn,
  STORED_TEXT,
} from "../model/packed-runs.ts";
import { PAYLOAD_NUMBER, PAYLOADS_PER_RUN } from "../model/run-row.ts";

const PAYLOAD_COLUMNS = ["inputs", "outputs", "error", "extra", "events"] as const;

/** What a run has that was never given; all other columns are null then. */
const DEFAULTS: Partial<Record<RunColumn, string>> = {
  inputs: "{}",
  extra: "{}",
  events: "[]",
  tags: "[]",
};

/** Reads one column of `runs r`, row by row, and packs what it has read. */
export class ColumnPacker {
  readonly #column: RunColumn;
  /** Texts, or numbers. */
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];
  readonly #stored: PackedTexts["stored"] = [];
  readonly #isText: boolean;
  readonly #isJsonString: boolean;
  readonly #default: string | undefined;
  /** The value that it reads of a row, and of what table besides `runs r`. */
  readonly selected: string;
  readonly join: string;

  constructor(column: RunColumn) {
    this.#column = column;
    this.#isText = isTextColumn(column);
    this.#default = DEFAULTS[column];
    const payload = PAYLOAD_COLUMNS.find((name) => name === column);
    this.#isJsonString = column === "error";
    if (payload !== undefined) {
      const table = `p_${payload}`;
      // One value for both kinds: each value costs more than what is done with it.
      this.selected = `coalesce(${table}.body, CAST(${table}.bytes || ' ' || ${table}.object AS BLOB))`;
      const key = `r.seq * ${PAYLOADS_PER_RUN} + ${PAYLOAD_NUMBER[payload]}`;
      const mayHave = payload === "error" ? " AND r.error IS NOT NULL" : "";
      this.join = `LEFT JOIN payloads ${table} ON ${table}.key = ${key}${mayHave}`;
    } else {
      this.selected = column === "trace_tier" ? "k.tier" : `r.${column}`;
      this.join = "";
    }
  }

  /** Takes the row's value; the length of its text, as long as it is not packed. */
  take(value: SqlStorageValue | undefined): number {
    if (!this.#isText) {
      this.#numbers.push(typeof value === "number" ? value : NaN);
      return Float64Array.BYTES_PER_ELEMENT;
    }
    if (typeof value === "string") {
      const text = this.#isJsonString ? decodedString(value) : value;
      this.#texts.push(text);
      this.#numbers.push(text.length);
      return text.length;
    }
    if (value instanceof ArrayBuffer) {
      const [size = "", object = ""] = new TextDecoder().decode(value).split(/ (.*)/s);
      this.#stored.push({ row: this.#numbers.length, object, size: Number(size) });
      this.#numbers.push(STORED_TEXT);
      this.#texts.push("");
      return object.length;
    }
    this.#texts.push(this.#default ?? "");
    this.#numbers.push(this.#default?.length ?? NO_TEXT);
    return 0;
  }

  put(runs: PackedRuns): void {
    if (isTextColumn(this.#column)) runs.texts[this.#column] = this.#packedTexts();
    else runs.numbers[this.#column] = Float64Array.from(this.#numbers);
  }

  #packedTexts(): PackedTexts {
    const joined = this.#texts.join("");
    const bytes = new TextEncoder().encode(joined);
    const lengths = Int32Array.from(this.#numbers);
    // Not all of it is ASCII: the lengths in UTF-8 are other ones.
    if (bytes.length !== joined.length) {
      for (const [row, text] of this.#texts.entries()) {
        if (text !== "") lengths[row] = Buffer.byteLength(text);
      }
    }
    return { bytes, lengths, stored: this.#stored };
  }
}

/** What a JSON string says. Half a surrogate pair would become a whole one with the next text's. */
function decodedString(json: string): string {
  return String(JSON.parse(json)).toWellFormed();
}
