CREATE TABLE `deployments` (
	`workspace_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`display_name` text,
	`slug` text NOT NULL,
	`source` text NOT NULL,
	`source_config` text NOT NULL,
	`status` text NOT NULL,
	`latest_revision_id` text NOT NULL,
	`active_revision_id` text,
	`deletes_project` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`purged_at` integer,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployments_by_id` ON `deployments` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `deployments_by_name` ON `deployments` (`workspace_id`,`name`) WHERE purged_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `deployments_by_slug` ON `deployments` (`slug`) WHERE purged_at IS NULL;--> statement-breakpoint
CREATE INDEX `deployments_to_delete` ON `deployments` (`updated_at`) WHERE status = 'AWAITING_DELETE';--> statement-breakpoint
CREATE TABLE `revisions` (
	`workspace_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`id` text NOT NULL,
	`status` text NOT NULL,
	`status_message` text,
	`source` text NOT NULL,
	`template_id` text,
	`source_tarball_path` text,
	`langgraph_config_path` text,
	`secrets` text NOT NULL,
	`graphs` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`due_at` integer,
	`lease` text,
	`attempts` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `deployment_id`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `revisions_by_id` ON `revisions` (`id`);--> statement-breakpoint
CREATE INDEX `revisions_due` ON `revisions` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `revisions_by_tarball` ON `revisions` (`source_tarball_path`);--> statement-breakpoint
CREATE TABLE `source_uploads` (
	`workspace_id` text NOT NULL,
	`object_path` text NOT NULL,
	`created_at` integer NOT NULL,
	`size` integer,
	PRIMARY KEY(`workspace_id`, `object_path`)
);
--> statement-breakpoint
CREATE INDEX `source_uploads_by_time` ON `source_uploads` (`created_at`);