CREATE TABLE `webhook_keys` (
	`workspace_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`signing_key` text NOT NULL,
	`key_version` integer NOT NULL,
	`previous_key` text,
	`previous_expires_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `deployment_id`)
);
