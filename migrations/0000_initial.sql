CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`prefix` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_by_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_by_workspace` ON `api_keys` (`workspace_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `assistant_versions` (
	`workspace_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`assistant_id` text NOT NULL,
	`version` integer NOT NULL,
	`graph_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`config` text NOT NULL,
	`context` text NOT NULL,
	`metadata` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `deployment_id`, `assistant_id`, `version`)
);
--> statement-breakpoint
CREATE TABLE `assistants` (
	`workspace_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`assistant_id` text NOT NULL,
	`version` integer NOT NULL,
	`graph_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`config` text NOT NULL,
	`context` text NOT NULL,
	`metadata` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `deployment_id`, `assistant_id`)
);
--> statement-breakpoint
CREATE INDEX `assistants_by_creation` ON `assistants` (`workspace_id`,`deployment_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `assistants_by_graph` ON `assistants` (`workspace_id`,`deployment_id`,`graph_id`);--> statement-breakpoint
CREATE TABLE `threads` (
	`workspace_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`thread_id` text NOT NULL,
	`status` text NOT NULL,
	`metadata` text NOT NULL,
	`config` text NOT NULL,
	`state_values` text,
	`interrupts` text NOT NULL,
	`error` text,
	`omitted` text NOT NULL,
	`values_chars` integer NOT NULL,
	`json_chars` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`state_updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `deployment_id`, `thread_id`)
);
--> statement-breakpoint
CREATE INDEX `threads_by_update` ON `threads` (`workspace_id`,`deployment_id`,`updated_at`,`thread_id`);--> statement-breakpoint
CREATE INDEX `threads_by_creation` ON `threads` (`workspace_id`,`deployment_id`,`created_at`,`thread_id`);--> statement-breakpoint
CREATE INDEX `threads_by_status` ON `threads` (`workspace_id`,`deployment_id`,`status`,`updated_at`,`thread_id`);--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "workspaces_plan" CHECK("workspaces"."plan" IN ('developer', 'plus', 'enterprise'))
);
