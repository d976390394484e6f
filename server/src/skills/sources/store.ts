import type { Executor } from '../../ports/database/port.ts'

export type SourcesTable = {
  id: string
  name: string
  /** Normalized by the git port. */
  url: string
  ref: string
  ref_type: 'branch' | 'tag'
  is_default: number
  enabled: number
  priority: number
  /** User name; null for the community source. */
  created_by: string | null
  created_at: string
  updated_at: string
  last_sync_at: string | null
  last_sync_status: 'success' | 'failed' | 'moved_tag' | 'never'
  /** The commit in the library, to which a tag is pinned. Null until the first sync of repository and ref. */
  last_commit_sha: string | null
  last_error: string | null
  /** Kind of the error. */
  last_fault: string | null
  skills_root: string | null
  layout_conflict: number
  skill_count: number
}

export type SourceRow = SourcesTable

export function sourceStore(executor: Executor) {
  const db = executor.withTables<{ skill_sources: SourcesTable }>()
  const one = (column: 'id' | 'name', value: string) =>
    db.selectFrom('skill_sources').selectAll().where(column, '=', value).executeTakeFirst()
  return {
    /** In order of name resolution: lower priority first, then older first. */
    all(): Promise<SourceRow[]> {
      const rows = db.selectFrom('skill_sources').selectAll()
      return rows.orderBy('priority').orderBy('created_at').orderBy('id').execute()
    },
    byId: async (id: string): Promise<SourceRow | null> => (await one('id', id)) ?? null,

    /** False if the name is in use. */
    async insert(row: SourceRow): Promise<boolean> {
      const inserted = await db
        .insertInto('skill_sources')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst()
      return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    isTaken: async (name: string, exceptId: string) => {
      const found = await one('name', name)
      return found !== undefined && found.id !== exceptId
    },

    async update(id: string, patch: Partial<SourceRow>): Promise<void> {
      await db.updateTable('skill_sources').set(patch).where('id', '=', id).execute()
    },

    /** Stores the result of a sync, unless the source was changed or removed since. */
    async settle(row: SourceRow, patch: Partial<SourceRow>): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('skill_sources')
        .set(patch)
        .where('id', '=', row.id)
        .where('url', '=', row.url)
        .where('ref', '=', row.ref)
        .where('ref_type', '=', row.ref_type)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('skill_sources').where('id', '=', id).executeTakeFirst()
      return numDeletedRows > 0n
    },
  }
}
