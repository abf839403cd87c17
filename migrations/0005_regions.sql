CREATE TABLE `billing_plans` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`region` text NOT NULL,
	`plan` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "billing_plans_plan" CHECK("billing_plans"."plan" IN ('developer', 'plus', 'enterprise'))
);
--> statement-breakpoint
CREATE TABLE `known_plans` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`plan` text NOT NULL,
	`read_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `private_endpoints` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`private_only` integer NOT NULL,
	`networks` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
-- Plans move to `billing_plans`. Both tables are made anew: D1 keeps foreign keys on, and does not let go of a
-- table that another refers to.
INSERT INTO `billing_plans` (`workspace_id`, `region`, `plan`, `created_at`, `updated_at`)
	SELECT `id`, 'us', `plan`, `created_at`, `created_at` FROM `workspaces`;
--> statement-breakpoint
CREATE TABLE `__new_workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `__new_workspaces` (`id`, `name`, `created_at`)
	SELECT `id`, `name`, `created_at` FROM `workspaces`;
--> statement-breakpoint
CREATE TABLE `__new_api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`prefix` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `__new_workspaces`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `__new_api_keys`
	(`id`, `workspace_id`, `name`, `prefix`, `hash`, `created_at`, `last_used_at`, `revoked_at`)
	SELECT `id`, `workspace_id`, `name`, `prefix`, `hash`, `created_at`, `last_used_at`, `revoked_at` FROM `api_keys`;
--> statement-breakpoint
DROP TABLE `api_keys`;
--> statement-breakpoint
DROP TABLE `workspaces`;
--> statement-breakpoint
ALTER TABLE `__new_workspaces` RENAME TO `workspaces`;
--> statement-breakpoint
ALTER TABLE `__new_api_keys` RENAME TO `api_keys`;
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_by_hash` ON `api_keys` (`hash`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_workspace` ON `api_keys` (`workspace_id`,`created_at`);
--> statement-breakpoint
ALTER TABLE `bulk_exports` ADD `hold_reason` text;