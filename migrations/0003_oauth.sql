CREATE TABLE `oauth_attempts` (
	`auth_id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`provider` text NOT NULL,
	`user_id` text NOT NULL,
	`agent_id` text,
	`scopes` text NOT NULL,
	`is_default` integer NOT NULL,
	`redirect_uri` text NOT NULL,
	`code_verifier` text,
	`status` text NOT NULL,
	`token_id` text,
	`error` text,
	`error_description` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `oauth_attempts_by_provider` ON `oauth_attempts` (`workspace_id`,`provider`);--> statement-breakpoint
CREATE INDEX `oauth_attempts_by_expiry` ON `oauth_attempts` (`expires_at`);--> statement-breakpoint
CREATE TABLE `oauth_providers` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`name` text NOT NULL,
	`client_id` text NOT NULL,
	`client_secret` text,
	`key_version` integer,
	`auth_url` text NOT NULL,
	`token_url` text NOT NULL,
	`uses_pkce` integer NOT NULL,
	`provider_type` text,
	`token_endpoint_auth_method` text NOT NULL,
	`mcp_server_url` text,
	`resource` text,
	`revocation_url` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `oauth_providers_by_name` ON `oauth_providers` (`workspace_id`,`provider_id`);--> statement-breakpoint
CREATE TABLE `oauth_tokens` (
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`provider` text NOT NULL,
	`user_id` text NOT NULL,
	`agent_id` text,
	`scopes` text NOT NULL,
	`access_token` text NOT NULL,
	`refresh_token` text,
	`key_version` integer NOT NULL,
	`provider_account_label` text,
	`metadata` text,
	`is_default` integer NOT NULL,
	`expires_at` integer,
	`refreshing_until` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `oauth_tokens_by_user` ON `oauth_tokens` (`workspace_id`,`user_id`,`provider`);--> statement-breakpoint
CREATE INDEX `oauth_tokens_by_provider` ON `oauth_tokens` (`workspace_id`,`provider`);