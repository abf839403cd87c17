import type { IndexedRun, RunPlace } from "../shard/shard-ref.ts";

/**
 * Ids of version 7 that came together, in one row: such an id tells when it was made, so that a row is
 * found by the time of the id that is looked for. All ids of a row were made in the same window of time.
 */
const WINDOW_BITS = 12;

const ID_BYTES = 16;

/** The window, some four seconds long, in which an id was made; null when the id does not tell. */
function windowOf(id: string): number | null {
  if (id[14] !== "7") return null;
  return Math.floor(madeAt(id) / 2 ** WINDOW_BITS);
}

/** In epoch milliseconds, of an id of version 7. */
export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** UUIDs in 16 bytes each. */
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

/** Of all windows together: some 10 MB. */
const MAX_REMEMBERED_IDS = 50_000;
/** A window takes no more, as all of it is read for one of its ids. */
const MAX_WINDOW_IDS = 20_000;

/** Places of runs whose ids tell when they were made: one row for those that came together. */
export class PackTable {
  readonly #sql: SqlStorage;
  readonly #windows = new Map<number, Window>();
  #remembered = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** What is remembered of a change that was rolled back does not exist. */
  reset(): void {
    this.#windows.clear();
    this.#remembered = 0;
  }

  find(id: string): RunPlace | undefined {
    const window = windowOf(id);
    return window === null ? undefined : this.#read(window).places.get(id);
  }

  /** Enters runs that are not there; returns those that it does not take. */
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

  /** Deletes what was entered before a time in epoch milliseconds. */
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
