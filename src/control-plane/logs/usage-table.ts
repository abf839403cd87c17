/** What deployed code asked of the network on a UTC day; bytes are those of bodies. */
type OutboundUsage = {
  requests: number;
  refused: number;
  bytes_sent: number;
  bytes_received: number;
};

/** `day`: whole UTC days since 1970. */
export type UsageOfDay = OutboundUsage & { day: number };

/** A little more than a year. */
const KEPT_DAYS = 400;

export function addUsage(sql: SqlStorage, days: readonly UsageOfDay[]): void {
  for (const { day, requests, refused, bytes_sent, bytes_received } of days) {
    sql.exec(
      `INSERT INTO usage (day, requests, refused, bytes_sent, bytes_received)
       VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
         refused = refused + excluded.refused, bytes_sent = bytes_sent + excluded.bytes_sent,
         bytes_received = bytes_received + excluded.bytes_received`,
      day,
      requests,
      refused,
      bytes_sent,
      bytes_received,
    );
  }
}

/** The newest first. */
export function selectUsage(
  sql: SqlStorage,
  { limit, offset }: { limit: number; offset: number },
): UsageOfDay[] {
  return sql
    .exec<UsageOfDay>(
      `SELECT day, requests, refused, bytes_sent, bytes_received FROM usage
       ORDER BY day DESC LIMIT ? OFFSET ?`,
      limit,
      offset,
    )
    .toArray();
}

export function pruneUsage(sql: SqlStorage, today: number): void {
  sql.exec("DELETE FROM usage WHERE day <= ?", today - KEPT_DAYS);
}
