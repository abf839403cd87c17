/**
 * The SQLite of one RunShardObject. Versions are append-only: a shard applies those it lacks when it
 * wakes. Times are microseconds since 1970, costs are whole picodollars (1e-12 USD).
 *
 * The second version holds a run in one row without any index: see docs/storage.md.
 */
export const SHARD_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    trace_id TEXT NOT NULL,
    parent_run_id TEXT,
    dotted_order TEXT NOT NULL,
    name TEXT NOT NULL,
    run_type TEXT NOT NULL,
    start_time INTEGER NOT NULL,
    end_time INTEGER,
    status TEXT NOT NULL,
    error TEXT,
    tags TEXT,
    reference_example_id TEXT,
    thread_id TEXT,
    inputs_preview TEXT,
    outputs_preview TEXT,
    first_token_time INTEGER,
    -- JSON of the run's own amounts, which its totals are made of besides those of its children
    own_amounts TEXT,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    total_tokens INTEGER NOT NULL DEFAULT 0,
    prompt_cost INTEGER,
    completion_cost INTEGER,
    total_cost INTEGER,
    prompt_token_details TEXT,
    completion_token_details TEXT,
    prompt_cost_details TEXT,
    completion_cost_details TEXT,
    price_model_id TEXT,
    feedback_stats TEXT,
    attachments TEXT,
    -- JSON list: which attributes the run has, also told by run_attributes the other way round
    attribute_ids TEXT,
    patched INTEGER NOT NULL,
    inserted_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL
  ) STRICT;
  -- Without the id, by which runs of one start are ordered: they are few, and keys are short.
  CREATE INDEX runs_by_start ON runs (start_time);
  CREATE INDEX runs_by_name ON runs (name, start_time);
  CREATE INDEX runs_by_trace ON runs (trace_id);
  CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
  CREATE INDEX runs_by_thread ON runs (thread_id, start_time) WHERE thread_id IS NOT NULL;
  CREATE INDEX runs_root ON runs (start_time) WHERE parent_run_id IS NULL;
  CREATE INDEX runs_failed ON runs (start_time) WHERE status = 'error';
  -- key = runs.seq * 8 + the field's number
  CREATE TABLE payloads (key INTEGER PRIMARY KEY, body TEXT, object TEXT, bytes INTEGER) STRICT;
  -- kind is 'metadata' (flattened key, text of the value) or 'tag' (the tag, '')
  CREATE TABLE attributes (
    attribute_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (kind, key, value)
  ) STRICT;
  CREATE TABLE run_attributes (
    attribute_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (attribute_id, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE feedback (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    key TEXT NOT NULL,
    score REAL,
    value TEXT,
    comment TEXT,
    source TEXT,
    error INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX feedback_by_run ON feedback (run_id, key);
  CREATE INDEX feedback_by_key ON feedback (key, score);
  CREATE TABLE traces (
    trace_id TEXT PRIMARY KEY,
    tier TEXT NOT NULL,
    first_received_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Other days that hold a part of a trace of this shard.
  CREATE TABLE trace_parts (
    trace_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    PRIMARY KEY (trace_id, day)
  ) STRICT, WITHOUT ROWID;
  -- Totals of runs of another day whose parent is here.
  CREATE TABLE foreign_children (
    run_id TEXT PRIMARY KEY,
    parent_run_id TEXT NOT NULL,
    totals TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX foreign_children_by_parent ON foreign_children (parent_run_id);
  -- What other days' shards have still to be told; newest state wins, so a repeat is harmless.
  CREATE TABLE outbox (
    day INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (day, run_id)
  ) STRICT, WITHOUT ROWID;
  -- R2 keys that nothing refers to any more.
  CREATE TABLE garbage (object TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE runs RENAME TO indexed_runs;
  ALTER TABLE traces RENAME TO bare_traces;
  -- What a scan reads comes first: the rest of a long row is on pages of its own.
  CREATE TABLE runs (
    -- See run-key.ts
    key INTEGER PRIMARY KEY,
    start_time INTEGER NOT NULL,
    id TEXT NOT NULL,
    end_time INTEGER,
    status TEXT NOT NULL,
    run_type TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    parent_run_id TEXT,
    thread_id TEXT,
    reference_example_id TEXT,
    first_token_time INTEGER,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    total_tokens INTEGER NOT NULL DEFAULT 0,
    prompt_cost INTEGER,
    completion_cost INTEGER,
    total_cost INTEGER,
    -- Which fields a patch has set
    patched INTEGER NOT NULL,
    inserted_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    name TEXT NOT NULL,
    dotted_order TEXT NOT NULL,
    -- JSON list of texts
    tags TEXT,
    -- JSON lists of [path, text], each pair once in that of metadata
    metadata TEXT,
    input_leaves TEXT,
    output_leaves TEXT,
    error TEXT,
    inputs_preview TEXT,
    outputs_preview TEXT,
    -- JSON of the run's own amounts, which its totals are made of besides those of its children
    own_amounts TEXT,
    prompt_token_details TEXT,
    completion_token_details TEXT,
    prompt_cost_details TEXT,
    completion_cost_details TEXT,
    price_model_id TEXT,
    feedback_stats TEXT,
    attachments TEXT,
    -- Payloads: see stored-payload.ts
    extra ANY,
    inputs ANY,
    outputs ANY,
    error_json ANY,
    events ANY,
    serialized ANY
  ) STRICT;
  -- Payloads that are too long for their run's row.
  CREATE TABLE long_payloads (
    run_id TEXT NOT NULL,
    field TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, field)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE traces (
    trace_id TEXT PRIMARY KEY,
    tier TEXT NOT NULL,
    first_received_at INTEGER NOT NULL,
    -- Within these all of its runs here start; null while there is none
    first_start INTEGER,
    last_start INTEGER,
    -- The day of its root, when that is another one
    home INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX traces_of_other_days ON traces (home) WHERE home IS NOT NULL;
  -- Runs that are not here, whose children with amounts are.
  CREATE TABLE expected_parents (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  -- What finds runs without going through all of them: see run-segments.ts.
  CREATE TABLE segments (
    first_start INTEGER PRIMARY KEY,
    ids BLOB NOT NULL,
    terms BLOB NOT NULL
  ) STRICT;
  -- Segments whose row is not there, or lacks something.
  CREATE TABLE open_segments (first_start INTEGER PRIMARY KEY) STRICT;
  INSERT INTO long_payloads (run_id, field, body)
    SELECT r.id, f.value, p.body FROM payloads p JOIN indexed_runs r ON r.seq = p.key >> 3
      JOIN json_each('["inputs","outputs","events","extra","serialized","error"]') f ON f.key = p.key & 7
    WHERE length(p.body) > 16384;
  INSERT INTO runs SELECT (start_time << 10)
        + row_number() OVER (PARTITION BY start_time ORDER BY id) - 1,
      start_time, id, end_time, status, run_type, trace_id, parent_run_id,
      thread_id, reference_example_id, first_token_time, prompt_tokens, completion_tokens,
      total_tokens, prompt_cost, completion_cost, total_cost, patched, inserted_at, received_at, name,
      dotted_order, tags,
      (SELECT json_group_array(json_array(a.key, a.value)) FROM json_each(attribute_ids) i
         JOIN attributes a ON a.attribute_id = i.value AND a.kind = 'metadata'),
      (SELECT body FROM payloads WHERE key = seq * 8 + 6),
      (SELECT body FROM payloads WHERE key = seq * 8 + 7),
      error, inputs_preview, outputs_preview, own_amounts, prompt_token_details,
      completion_token_details, prompt_cost_details, completion_cost_details, price_model_id,
      feedback_stats, attachments,
      ${movedPayload(3)}, ${movedPayload(0)}, ${movedPayload(1)}, ${movedPayload(5)},
      ${movedPayload(2)}, ${movedPayload(4)}
    FROM indexed_runs;
  INSERT INTO traces (trace_id, tier, first_received_at, first_start, last_start, home)
    SELECT t.trace_id, t.tier, t.first_received_at, min(r.start_time), max(r.start_time),
      nullif(unixepoch(substr(min(r.dotted_order), 1, 4) || '-' || substr(min(r.dotted_order), 5, 2)
        || '-' || substr(min(r.dotted_order), 7, 2)) / 86400,
        (SELECT value ->> 'day' FROM settings WHERE name = 'ref'))
    FROM bare_traces t LEFT JOIN indexed_runs r ON r.trace_id = t.trace_id GROUP BY t.trace_id;
  INSERT INTO expected_parents SELECT DISTINCT parent_run_id FROM indexed_runs c
    WHERE parent_run_id IS NOT NULL AND (total_tokens > 0 OR total_cost IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM indexed_runs WHERE id = c.parent_run_id);
  -- One that holds everything, to be divided when it is read.
  INSERT INTO open_segments SELECT min(start_time) FROM runs WHERE true HAVING count(*) > 0;
  DROP TABLE indexed_runs;
  DROP TABLE bare_traces;
  DROP TABLE payloads;
  DROP TABLE run_attributes;
  DROP TABLE attributes;
  `,
];

/** A payload of the first version as the second one keeps it. */
function movedPayload(number: number): string {
  return `(SELECT iif(body IS NULL, CAST(bytes || ' ' || object AS BLOB), iif(length(body) > 16384, 1, body))
    FROM payloads WHERE key = seq * 8 + ${number})`;
}
