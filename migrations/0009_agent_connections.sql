CREATE TABLE `oauth_connections` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`agent_id` text NOT NULL,
	`token_id` text NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `id`),
	FOREIGN KEY (`workspace_id`,`token_id`) REFERENCES `oauth_tokens`(`workspace_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `oauth_connections_by_agent` ON `oauth_connections` (`workspace_id`,`agent_id`,`user_id`,`token_id`);--> statement-breakpoint
CREATE INDEX `oauth_connections_by_token` ON `oauth_connections` (`workspace_id`,`token_id`);