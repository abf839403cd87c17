import type { IndexedRun, RunPlace } from "../shard/shard-ref.ts";

/**
 * The size of a window, as a power of two in milliseconds. A row holds ids of version 7 that arrived together and
 * were made in the same window of time. Such an id contains the time at which it was made, so the time of the
 * requested id leads to its row.
 */
const WINDOW_BITS = 12;

const ID_BYTES = 16;

/** Returns the window, some four seconds long, in which an id was made; null if the id does not tell. */
function windowOf(id: string): number | null {
  if (id[14] !== "7") return null;
  return Math.floor(madeAt(id) / 2 ** WINDOW_BITS);
}

/** Returns when an id of version 7 was made, in epoch milliseconds. */
export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Packs UUIDs into 16 bytes each. */
function packIds(ids: readonly string[]): Uint8Array {
  return Uint8Array.from(Buffer.from(ids.join("").replaceAll("-", ""), "hex"));
}

function unpackIds(packed: ArrayBuffer): string[] {
  const digits = Buffer.from(packed).toString("hex");
  return Array.from({ length: packed.byteLength / ID_BYTES }, (_, index) => {
    const id = digits.slice(index * ID_BYTES * 2, (index + 1) * ID_BYTES * 2);
    return [8, 12, 16, 20].reduceRight((text, at) => `${text.slice(0, at)}-${text.slice(at)}`, id);
  });
}

type PackRow = { project_id: string; day: number; bucket: number; ids: ArrayBuffer };

type Window = { places: Map<string, RunPlace>; nextPack: number };

/** Maximum number of ids in memory, of all windows together: some 10 MB. */
const MAX_REMEMBERED_IDS = 50_000;
/** Maximum number of ids of a window, all of which are read to find one of its ids. */
const MAX_WINDOW_IDS = 20_000;

/** The places of runs whose ids tell when they were made: one row for those that arrived together. */
export class PackTable {
  readonly #sql: SqlStorage;
  readonly #windows = new Map<number, Window>();
  #remembered = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Forgets what is in memory, which may contain a change that was rolled back. */
  reset(): void {
    this.#windows.clear();
    this.#remembered = 0;
  }

  find(id: string): RunPlace | undefined {
    const window = windowOf(id);
    return window === null ? undefined : this.#read(window).places.get(id);
  }

  /** Enters runs that are not in the table. Returns those that it does not accept. */
  add(runs: readonly IndexedRun[], now: number): IndexedRun[] {
    const groups = Map.groupBy(runs, ({ id, projectId, day, bucket }) => {
      const window = windowOf(id);
      return window === null ? null : JSON.stringify([window, projectId, day, bucket]);
    });
    const refused: IndexedRun[] = [];
    for (const [key, group] of groups) {
      const [first] = group;
      const number = first === undefined ? null : windowOf(first.id);
      if (key === null || first === undefined || number === null) {
        refused.push(...group);
        continue;
      }
      const window = this.#read(number);
      if (window.places.size + group.length > MAX_WINDOW_IDS) {
        refused.push(...group);
        continue;
      }
      const { projectId, day, bucket } = first;
      const ids = [...new Set(group.map(({ id }) => id))];
      this.#sql.exec(
        `INSERT INTO packs (window, pack, project_id, day, bucket, entered_at, ids)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        number,
        window.nextPack,
        projectId,
        day,
        bucket,
        now,
        packIds(ids),
      );
      window.nextPack += 1;
      const place = { projectId, day, bucket };
      for (const id of ids) window.places.set(id, place);
      this.#remembered += ids.length;
    }
    return refused;
  }

  /** Deletes the entries that were made before a time in epoch milliseconds. */
  forget(before: number): void {
    this.#sql.exec("DELETE FROM packs WHERE entered_at < ?", before);
    this.reset();
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM packs LIMIT 1").toArray().length === 0;
  }

  #read(number: number): Window {
    const known = this.#windows.get(number);
    if (known !== undefined) return known;
    if (this.#remembered > MAX_REMEMBERED_IDS) this.reset();
    const places = new Map<string, RunPlace>();
    const rows = this.#sql.exec<PackRow & { pack: number }>(
      "SELECT pack, project_id, day, bucket, ids FROM packs WHERE window = ? ORDER BY pack",
      number,
    );
    let nextPack = 0;
    for (const { pack, project_id: projectId, day, bucket, ids } of rows) {
      const place = { projectId, day, bucket };
      for (const id of unpackIds(ids)) places.set(id, place);
      nextPack = pack + 1;
    }
    const window = { places, nextPack };
    this.#windows.set(number, window);
    this.#remembered += places.size;
    return window;
  }
}
