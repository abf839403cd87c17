import { parseSettings } from "../env.ts";
import { log } from "../lib/log.ts";
import { keyVersions, SecretBoxError } from "./secret-box.ts";

/**
 * A kind of stored row that has secrets which a key of ENCRYPTION_KEYS has sealed. Whoever stores secrets describes
 * them like this, and has a place in the registry of `src/index.ts`.
 */
type SealedRows<Row> = {
  /** Its name in the log. */
  kind: string;
  /** How many rows one sweep looks at. */
  rows: number;
  /**
   * Lists rows that keys of these versions have sealed, `limit` at most. They are in no order: what cannot be opened
   * must not keep the others from their turn.
   */
  list: (db: D1Database, versions: readonly number[], limit: number) => Promise<Row[]>;
  /**
   * Seals the secrets of a row with the first of the keys and stores them. False when the row is not as it was
   * read any more.
   */
  reseal: (db: D1Database, keys: string, row: Row) => Promise<boolean>;
  /** The ids that name a row in the log. */
  idsOf: (row: Row) => Record<string, string>;
};

/**
 * A task of the sweep that seals secrets of older keys with the first of ENCRYPTION_KEYS, some rows at each call, and
 * resolves with their number. An older key can be taken away when no row names its version and the log tells of no
 * failure.
 */
export function keyRotation<Row>({ kind, rows, list, reseal, idsOf }: SealedRows<Row>): {
  name: string;
  rows: number;
  run: (sweep: { env: Env; rows: number }) => Promise<number>;
} {
  const run = async (sweep: { env: Env; rows: number }): Promise<number> => {
    const { DB } = sweep.env;
    const { encryptionKeys: keys, logLevel } = parseSettings(sweep.env);
    // Without keys there is nothing to read, and whoever needs them says so.
    const [, ...older] = keys === "" ? [] : keyVersions(keys);
    if (older.length === 0) return 0;
    let count = 0;
    for (const row of await list(DB, older, sweep.rows)) {
      try {
        if (await reseal(DB, keys, row)) count += 1;
      } catch (error) {
        if (!(error instanceof SecretBoxError)) throw error;
        const fields = { event: "secret_not_resealed", kind, ...idsOf(row) };
        log(logLevel, "error", { ...fields, error: error.message });
      }
    }
    return count;
  };
  return { name: `reseal_${kind}`, rows, run };
}
