import type { IndexedRun, RunPlace } from "../shard/shard-ref.ts";
import { packIds, unpackIds, windowOf } from "./packed-ids.ts";

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
