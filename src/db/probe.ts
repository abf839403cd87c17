/** Writes a row that nobody can see, because the transaction that makes it removes it. Rejects when D1 cannot. */
export async function probeWrite(db: D1Database, now: number): Promise<void> {
  const id = `probe ${crypto.randomUUID()}`;
  await db.batch([
    db
      .prepare("INSERT INTO workspaces (id, name, created_at) VALUES (?, 'probe', ?)")
      .bind(id, now),
    db.prepare("DELETE FROM workspaces WHERE id = ?").bind(id),
  ]);
}
