import { parseSettings } from "../env.ts";
import { log } from "../lib/log.ts";
import { keyVersions, SecretBoxError } from "./secret-box.ts";

/**
 * A kind of stored row with secrets that are sealed by a key of ENCRYPTION_KEYS. Every module that stores secrets
 * describes its rows like this and adds them to the registry in `src/index.ts`.
 */
type SealedRows<Row> = {
  /** The kind's name in the log. */
  kind: string;
  /** Maximum rows that one sweep looks at. */
  rows: number;
  /**
   * Lists up to `limit` rows that were sealed by keys of these versions. The order is random, so that rows which
   * cannot be opened do not block the others.
   */
  list: (db: D1Database, versions: readonly number[], limit: number) => Promise<Row[]>;
  /**
   * Seals the secrets of a row with the first of the keys and stores them. Resolves to false when the row has
   * changed since it was read.
   */
  reseal: (db: D1Database, keys: string, row: Row) => Promise<boolean>;
  /** Returns the ids that identify a row in the log. */
  idsOf: (row: Row) => Record<string, string>;
};

/**
 * Makes a task of the sweep that reseals secrets of older keys with the first of ENCRYPTION_KEYS, some rows per
 * call. It resolves to the number of resealed rows. An older key can be removed when no row names its version any
 * more and the log reports no failure.
 */
export function keyRotation<Row>({ kind, rows, list, reseal, idsOf }: SealedRows<Row>): {
  name: string;
  rows: number;
  run: (sweep: { env: Env; rows: number }) => Promise<number>;
} {
  const run = async (sweep: { env: Env; rows: number }): Promise<number> => {
    const { DB } = sweep.env;
    const { encryptionKeys: keys, logLevel } = parseSettings(sweep.env);
    // Without keys there is nothing to reseal. Code that needs keys reports that they are missing.
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
