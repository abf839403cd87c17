import { randomUUID } from "node:crypto";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

/** A queue, and the Workers that consume it. */
export type Queue = { id: string; consumers: Map<string, string> };

export type Script = {
  secrets: Map<string, string>;
  /** The modules of the latest upload. */
  modules: string[];
  metadata: { bindings?: { name: string; type: string }[]; migrations?: { new_tag?: string } };
  uploads: number;
  crons: string[];
  onWorkersDev: boolean;
};

/** The state of a Cloudflare account, as far as an installation of the platform needs it. */
export class Account {
  readonly databases = new Map<
    string,
    { name: string; jurisdiction?: string; sqlite: DatabaseSync }
  >();
  readonly buckets = new Map<string, string>();
  /** Keys of the objects, by bucket. */
  readonly objects = new Map<string, Set<string>>();
  readonly queues = new Map<string, Queue>();
  readonly scripts = new Map<string, Script>();

  createDatabase(name: string, jurisdiction?: string): string {
    const id = randomUUID();
    const where = jurisdiction === undefined ? {} : { jurisdiction };
    this.databases.set(id, { name, ...where, sqlite: new DatabaseSync(":memory:") });
    return id;
  }

  /** Answers a query as D1 does, with one result for each statement. */
  query(id: string, sql: string, params: SQLInputValue[]): object[] | undefined {
    const database = this.databases.get(id);
    if (database === undefined) return undefined;
    const meta = { duration: 0, rows_read: 0, rows_written: 0, changes: 0, last_row_id: 0 };
    if (params.length === 0 && !/^\s*(?:select|pragma|with)/i.test(sql)) {
      database.sqlite.exec(sql);
      return [{ results: [], success: true, meta }];
    }
    return [{ results: database.sqlite.prepare(sql).all(...params), success: true, meta }];
  }

  script(name: string): Script {
    const known = this.scripts.get(name);
    if (known !== undefined) return known;
    const made: Script = {
      secrets: new Map(),
      modules: [],
      metadata: {},
      uploads: 0,
      crons: [],
      onWorkersDev: false,
    };
    this.scripts.set(name, made);
    return made;
  }

  /** Returns what the account has, without values that are new each time. */
  summary(): object {
    return {
      databases: [...this.databases.values()].map(({ name, jurisdiction }) => [name, jurisdiction]),
      buckets: [...this.buckets],
      queues: [...this.queues].map(([name, { consumers }]) => [name, [...consumers.values()]]),
      scripts: [...this.scripts].map(([name, { secrets }]) => [
        name,
        [...secrets.keys()].toSorted(),
      ]),
    };
  }
}
