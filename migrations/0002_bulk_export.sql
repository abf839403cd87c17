CREATE TABLE `bulk_exports` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`destination_id` text NOT NULL,
	`project_id` text NOT NULL,
	`start_time` integer NOT NULL,
	`end_time` integer,
	`filter` text,
	`format_version` text NOT NULL,
	`compression` text NOT NULL,
	`export_fields` text,
	`interval_hours` integer,
	`source_id` text,
	`status` text NOT NULL,
	`next_start` integer,
	`next_due_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `bulk_exports_by_creation` ON `bulk_exports` (`workspace_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `bulk_exports_waiting` ON `bulk_exports` (`workspace_id`,`created_at`) WHERE "bulk_exports"."status" = 'CREATED';--> statement-breakpoint
CREATE INDEX `bulk_exports_running` ON `bulk_exports` (`workspace_id`,`created_at`) WHERE "bulk_exports"."status" = 'RUNNING';--> statement-breakpoint
CREATE INDEX `bulk_exports_due` ON `bulk_exports` (`next_due_at`) WHERE "bulk_exports"."next_due_at" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `bulk_exports_by_range` ON `bulk_exports` (`workspace_id`,`source_id`,`start_time`) WHERE "bulk_exports"."source_id" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `export_credentials` (
	`workspace_id` text NOT NULL,
	`destination_id` text NOT NULL,
	`version` integer NOT NULL,
	`sealed` text NOT NULL,
	`key_version` integer NOT NULL,
	`names` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `destination_id`, `version`)
);
--> statement-breakpoint
CREATE INDEX `export_credentials_by_key` ON `export_credentials` (`key_version`);--> statement-breakpoint
CREATE TABLE `export_destinations` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`display_name` text NOT NULL,
	`bucket_name` text NOT NULL,
	`prefix` text NOT NULL,
	`region` text,
	`endpoint_url` text,
	`include_bucket_in_prefix` integer NOT NULL,
	`credentials_version` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `export_destinations_by_creation` ON `export_destinations` (`workspace_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `export_files` (
	`workspace_id` text NOT NULL,
	`export_run_id` text NOT NULL,
	`number` integer NOT NULL,
	`key` text NOT NULL,
	`rows` integer NOT NULL,
	`bytes` integer NOT NULL,
	`first_start` integer NOT NULL,
	`last_start` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `export_run_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `export_runs` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`export_id` text NOT NULL,
	`start_time` integer NOT NULL,
	`end_time` integer NOT NULL,
	`status` text NOT NULL,
	`retry_number` integer DEFAULT 0 NOT NULL,
	`errors` text,
	`rows_written` integer DEFAULT 0 NOT NULL,
	`files_written` integer DEFAULT 0 NOT NULL,
	`latest_cursor` text,
	`pending_upload` text,
	`open_upload` text,
	`interruptions` integer DEFAULT 0 NOT NULL,
	`credentials_version` integer,
	`attempt_started_at` integer,
	`lease` text,
	`lease_until` integer,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finished_at` integer,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `export_runs_by_export` ON `export_runs` (`workspace_id`,`export_id`,`start_time`);--> statement-breakpoint
CREATE INDEX `export_runs_running` ON `export_runs` (`due_at`) WHERE "export_runs"."status" = 'RUNNING';--> statement-breakpoint
CREATE INDEX `export_runs_open_upload` ON `export_runs` (`status`) WHERE "export_runs"."open_upload" IS NOT NULL;