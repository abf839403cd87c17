/** The tables of a shard in the first version. */
export const FIRST_SHARD_TABLES = `
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
`;
