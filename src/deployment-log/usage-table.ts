/** What is counted for deployed code per UTC day. */
export const USAGE_COUNTS = [
  // Network; bytes are those of the bodies.
  "requests",
  "refused",
  "bytes_sent",
  "bytes_received",
  // Store and checkpoints: the reads and writes of the platform for the code.
  "storage_operations",
  "storage_rows",
  "storage_bytes",
] as const;

type UsageCounts = Record<(typeof USAGE_COUNTS)[number], number>;

export const NO_USAGE: UsageCounts = {
  requests: 0,
  refused: 0,
  bytes_sent: 0,
  bytes_received: 0,
  storage_operations: 0,
  storage_rows: 0,
  storage_bytes: 0,
};

/** `day` is the number of UTC days since 1970. */
export type UsageOfDay = UsageCounts & { day: number };

/** A little more than a year. */
const KEPT_DAYS = 400;

const COLUMNS = USAGE_COUNTS.join(", ");

export function addUsage(sql: SqlStorage, days: readonly UsageOfDay[]): void {
  for (const usage of days) {
    sql.exec(
      `INSERT INTO usage (day, ${COLUMNS}) VALUES (?${", ?".repeat(USAGE_COUNTS.length)})
       ON CONFLICT DO UPDATE SET
         ${USAGE_COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
      usage.day,
      ...USAGE_COUNTS.map((name) => usage[name]),
    );
  }
}

/** Returns usage per day, the newest day first. */
export function selectUsage(
  sql: SqlStorage,
  { limit, offset }: { limit: number; offset: number },
): UsageOfDay[] {
  return sql
    .exec<UsageOfDay>(
      `SELECT day, ${COLUMNS} FROM usage ORDER BY day DESC LIMIT ? OFFSET ?`,
      limit,
      offset,
    )
    .toArray();
}

export function pruneUsage(sql: SqlStorage, today: number): void {
  sql.exec("DELETE FROM usage WHERE day <= ?", today - KEPT_DAYS);
}
