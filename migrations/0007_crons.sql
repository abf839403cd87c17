CREATE TABLE `crons` (
	`workspace_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`cron_id` text NOT NULL,
	`assistant_id` text NOT NULL,
	`thread_id` text,
	`on_run_completed` text,
	`schedule` text NOT NULL,
	`timezone` text,
	`end_time` integer,
	`enabled` integer NOT NULL,
	`payload` text NOT NULL,
	`metadata` text NOT NULL,
	`principal` text,
	`next_run_at` integer,
	`due_at` integer,
	`lease` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `deployment_id`, `cron_id`)
);
--> statement-breakpoint
CREATE INDEX `crons_by_due` ON `crons` (`due_at`);