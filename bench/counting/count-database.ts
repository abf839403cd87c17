import { counts, countStatement, hop, shares } from "./tally.ts";

export function isDatabase(binding: object): binding is D1Database {
  return "prepare" in binding && "withSession" in binding;
}

/** A prepared statement with its SQL text, a property that D1's types do not declare. */
type Prepared = D1PreparedStatement & { statement: string };

/** Maps each counting statement to the database's own statement that it wraps. */
const originals = new WeakMap<object, D1PreparedStatement>();

export function countDatabase(database: D1Database): void {
  const prepare = database.prepare.bind(database);
  const batch = database.batch.bind(database);
  database.prepare = (text) => countingStatement(prepare(text), batch);
  database.batch = async <T>(statements: D1PreparedStatement[]) => {
    const inner = statements.map((each) => originals.get(each) ?? each);
    const texts = inner.map((each) => (each as Prepared).statement);
    return await sent(texts, () => batch<T>(inner));
  };
}

function countingStatement(
  statement: D1PreparedStatement,
  batch: D1Database["batch"],
): D1PreparedStatement {
  const { statement: text } = statement as Prepared;
  const one = async <T>(send: () => Promise<D1Result<T>>): Promise<D1Result<T>> => {
    const [result] = await sent([text], async () => [await send()]);
    if (result === undefined) throw new Error("A statement has no result");
    return result;
  };
  const members = {
    bind: (...values: unknown[]) => countingStatement(statement.bind(...values), batch),
    run: () => one(() => statement.run()),
    all: () => one(() => statement.all()),
    first: async (column?: string) => {
      const { results } = await one(() => statement.all());
      const [row = null] = results;
      return column === undefined || row === null ? row : row[column];
    },
    raw: async () => {
      if (!/^\s*(?:insert|update|delete|replace)/i.test(text)) return rawRows(statement, text);
      // Only `batch` reports the number of written rows. Objects lose no value, as no statement returns a column
      // twice.
      const [result] = await sent([text], () => batch<Record<string, unknown>>([statement]));
      return (result?.results ?? []).map((row) => Object.values(row));
    },
  };
  const counting = Object.assign(Object.create(statement) as D1PreparedStatement, members);
  originals.set(counting, statement);
  return counting;
}

/** Raw rows come without metadata, so the rows read are counted as the rows returned: the true number may be higher. */
async function rawRows(statement: D1PreparedStatement, text: string): Promise<unknown[]> {
  counts.d1Requests += 1;
  counts.d1Statements += 1;
  const rows = await hop("d1", () => statement.raw());
  counts.d1RowsRead += rows.length;
  countStatement("D1", text, 0);
  return rows;
}

async function sent<T>(
  texts: string[],
  send: () => Promise<D1Result<T>[]>,
): Promise<D1Result<T>[]> {
  counts.d1Requests += 1;
  counts.d1Statements += texts.length;
  const results = await hop("d1", send);
  for (const [index, { meta }] of results.entries()) {
    counts.d1RowsWritten += meta.rows_written;
    counts.d1RowsRead += meta.rows_read;
    shares.bytes["D1"] = meta.size_after;
    countStatement("D1", texts[index] ?? "", meta.rows_written);
  }
  return results;
}
