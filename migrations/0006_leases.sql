UPDATE `export_runs` SET `due_at` = max(`due_at`, coalesce(`lease_until`, 0)) WHERE `status` = 'RUNNING' AND `lease` IS NOT NULL;
--> statement-breakpoint
ALTER TABLE `export_runs` DROP COLUMN `lease_until`;
