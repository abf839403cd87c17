CREATE TABLE `feedback` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`run_id` text,
	`trace_id` text,
	`session_id` text,
	`key` text NOT NULL,
	`score` real,
	`value` text,
	`comment` text,
	`correction` text,
	`source_type` text NOT NULL,
	`feedback_source` text NOT NULL,
	`feedback_config` text,
	`feedback_group_id` text,
	`comparative_experiment_id` text,
	`error` integer NOT NULL,
	`extra` text,
	`extend_trace_retention` integer NOT NULL,
	`start_time` integer,
	`created_at` integer NOT NULL,
	`modified_at` integer NOT NULL,
	`revision` integer NOT NULL,
	`shard_day` integer,
	`shard_bucket` integer,
	`copy_due_at` integer,
	`copy_wanted_at` integer,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `feedback_by_run` ON `feedback` (`workspace_id`,`run_id`);--> statement-breakpoint
CREATE INDEX `feedback_by_session` ON `feedback` (`workspace_id`,`session_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `feedback_by_creation` ON `feedback` (`workspace_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `feedback_due` ON `feedback` (`copy_due_at`) WHERE "feedback"."copy_due_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `feedback_configs` (
	`workspace_id` text NOT NULL,
	`feedback_key` text NOT NULL,
	`feedback_config` text NOT NULL,
	`is_lower_score_better` integer,
	`created_at` integer NOT NULL,
	`modified_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `feedback_key`)
);
--> statement-breakpoint
CREATE TABLE `feedback_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`run_id` text NOT NULL,
	`feedback_key` text NOT NULL,
	`feedback_config` text,
	`feedback_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `feedback_tokens_by_run` ON `feedback_tokens` (`workspace_id`,`run_id`);--> statement-breakpoint
CREATE TABLE `model_prices` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`match_pattern` text NOT NULL,
	`match_path` text NOT NULL,
	`provider` text,
	`start_time` integer,
	`prompt_cost` text NOT NULL,
	`completion_cost` text NOT NULL,
	`prompt_cost_details` text,
	`completion_cost_details` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `model_prices_by_workspace` ON `model_prices` (`workspace_id`);--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`start_time` integer NOT NULL,
	`end_time` integer,
	`extra` text,
	`default_dataset_id` text,
	`reference_dataset_id` text,
	`trace_tier` text NOT NULL,
	`buckets` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_by_name` ON `projects` (`workspace_id`,`name`) WHERE "projects"."deleted_at" IS NULL;--> statement-breakpoint
CREATE INDEX `projects_by_start` ON `projects` (`workspace_id`,`start_time`);--> statement-breakpoint
CREATE INDEX `projects_deleted` ON `projects` (`deleted_at`) WHERE "projects"."deleted_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `run_shards` (
	`workspace_id` text NOT NULL,
	`project_id` text NOT NULL,
	`day` integer NOT NULL,
	`bucket` integer NOT NULL,
	`first_start` integer NOT NULL,
	`last_start` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `project_id`, `day`, `bucket`)
);
--> statement-breakpoint
CREATE INDEX `run_shards_by_day` ON `run_shards` (`workspace_id`,`day`);--> statement-breakpoint
CREATE TABLE `run_shares` (
	`token` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`project_id` text NOT NULL,
	`trace_id` text NOT NULL,
	`run_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `run_shares_by_run` ON `run_shares` (`workspace_id`,`run_id`);