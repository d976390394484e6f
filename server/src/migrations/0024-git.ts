import type { Migration } from '../ports/database/port.ts'

/** The template commit of an agent, its repository, the results of its syncs, and its own token. */
export const git: Migration = {
  name: '0024-git',
  async up(db) {
    await db.schema.alterTable('agents').addColumn('template_commit', 'text').execute()
    await db.schema
      .createTable('agent_git')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('repository', 'text', (c) => c.notNull())
      .addColumn('working_branch', 'text', (c) => c.notNull())
      .addColumn('source_branch', 'text', (c) => c.notNull())
      .addColumn('source_mode', 'integer', (c) => c.notNull())
      .addColumn('auto_sync', 'integer', (c) => c.notNull())
      .addColumn('pull_sync', 'integer', (c) => c.notNull())
      .addColumn('freeze_schedules', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      // The time from which the workspace contains this repository.
      .addColumn('bound_at', 'text')
      .addColumn('last_sync_at', 'text')
      .addColumn('last_sync_status', 'text', (c) => c.notNull())
      // The step that currently fails: reading the remote or pushing to it.
      .addColumn('failing', 'text')
      .addColumn('consecutive_failures', 'integer', (c) => c.notNull())
      .addColumn('last_error', 'text')
      .addColumn('last_commit_sha', 'text')
      .addColumn('ahead', 'integer')
      .addColumn('behind', 'integer')
      .addColumn('dirty', 'integer')
      .addColumn('seen_at', 'text')
      .addColumn('tried_at', 'text')
      .addColumn('auto_synced_at', 'text')
      .execute()
    await db.schema
      .createIndex('agent_git_branch')
      .ifNotExists()
      .unique()
      .on('agent_git')
      .columns(['repository', 'working_branch'])
      .execute()
    await db.schema
      .createTable('agent_git_tokens')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('sealed', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
  },
}
