const GARBAGE_PER_STEP = 1000;

/** The R2 objects of one shard that nothing refers to any more. */
export class Garbage {
  readonly #sql: SqlStorage;
  readonly #bucket: R2Bucket;

  constructor(sql: SqlStorage, bucket: R2Bucket) {
    this.#sql = sql;
    this.#bucket = bucket;
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM garbage LIMIT 1").toArray().length === 0;
  }

  /** Deletes them; what was deleted stays on the list until it surely is. */
  async collect(): Promise<void> {
    for (;;) {
      const objects = this.#sql
        .exec<{ object: string }>(`SELECT object FROM garbage LIMIT ${GARBAGE_PER_STEP}`)
        .toArray()
        .map(({ object }) => object);
      if (objects.length === 0) return;
      await this.#bucket.delete(objects);
      this.#sql.exec(
        "DELETE FROM garbage WHERE object IN (SELECT value FROM json_each(?))",
        JSON.stringify(objects),
      );
    }
  }
}
