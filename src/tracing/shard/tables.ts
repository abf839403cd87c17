/**
 * The SQLite tables of one RunShardObject. Versions are append-only: a shard applies those it lacks when it wakes.
 * Times are microseconds since 1970, costs are whole picodollars (1e-12 USD).
 *
 * The second version stores a run in one row without any index: see docs/storage.md.
 */

const RUNS_AND_TRACES = `
  -- The columns that a scan reads come first: the rest of a long row is on separate pages.
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
    -- Bits of the fields that a patch has set
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
    -- JSON of the run's own amounts; its totals add those of its children
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
    -- Bounds of the starts of its runs here; null while there are none
    first_start INTEGER,
    last_start INTEGER,
    -- The day of its root if that is another day
    home INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX traces_of_other_days ON traces (home) WHERE home IS NOT NULL;
  -- Runs that are not here although they have children with amounts here.
  CREATE TABLE expected_parents (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  -- Ranges of runs, to find runs without reading all of them: see run-segments.ts.
  CREATE TABLE segments (
    first_start INTEGER PRIMARY KEY,
    ids BLOB NOT NULL,
    terms BLOB NOT NULL
  ) STRICT;
  -- Segments whose row is missing or incomplete.
  CREATE TABLE open_segments (first_start INTEGER PRIMARY KEY) STRICT;
`;

const PENDING_WRITES = `
  -- Creates of runs that wait for their updates, as many of a request as fit into a row: see pending-runs.ts.
  CREATE TABLE pending_writes (
    seq INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    -- JSON list of writes
    writes TEXT NOT NULL
  ) STRICT;
`;

const SEGMENT_TEXTS = `
  -- Filters of the texts of a segment's runs: see text-filter.ts. Not all segments have one.
  CREATE TABLE segment_texts (first_start INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;
`;

const WHAT_GOES_WITH_THEM = `
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
  -- Messages for the shards of other days; the newest state wins, so a repeat is harmless.
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
`;

/** The schema of a new shard, to which all migrations lead: a later version must be added here, too. */
export const SHARD_SCHEMA = RUNS_AND_TRACES + WHAT_GOES_WITH_THEM + PENDING_WRITES + SEGMENT_TEXTS;

export const SHARD_MIGRATIONS: readonly string[] = [
  // A new shard is created by the schema. The tables of the first version are read by move-old-runs.ts.
  "",
  // The rows are moved later, some at a time.
  `ALTER TABLE runs RENAME TO indexed_runs; ALTER TABLE traces RENAME TO bare_traces; ${RUNS_AND_TRACES}`,
  PENDING_WRITES,
  SEGMENT_TEXTS,
];
