ALTER TABLE `revisions` ADD `repo_ref` text;--> statement-breakpoint
ALTER TABLE `revisions` ADD `repo_commit_sha` text;