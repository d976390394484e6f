import type { Executor } from '../../ports/database/port.ts'

/** One skill of a source at its commit. */
type EntriesTable = {
  source_id: string
  name: string
  path: string
  /** SHA of its git tree. */
  version: string
  commit_sha: string
  file_count: number
  size_bytes: number
  /** JSON `SkillFacts`. */
  facts: string
  /** JSON `Package`. */
  package: string
  content: string
}

export type EntryRow = EntriesTable
/** An entry without its large columns. */
export type EntryHead = Omit<EntryRow, 'content' | 'package'>

const heads = [
  'source_id',
  'name',
  'path',
  'version',
  'commit_sha',
  'file_count',
  'size_bytes',
  'facts',
] as const

export function entryStore(executor: Executor) {
  const db = executor.withTables<{ skill_entries: EntriesTable }>()
  return {
    heads: (): Promise<EntryHead[]> => db.selectFrom('skill_entries').select(heads).orderBy('name').execute(),

    async find(sourceId: string, name: string): Promise<EntryRow | null> {
      const rows = db.selectFrom('skill_entries').selectAll().where('source_id', '=', sourceId)
      return (await rows.where('name', '=', name).executeTakeFirst()) ?? null
    },

    /** Replaces all entries of the source. */
    async replace(sourceId: string, rows: readonly EntryRow[]): Promise<void> {
      await db.deleteFrom('skill_entries').where('source_id', '=', sourceId).execute()
      for (let at = 0; at < rows.length; at += 50) {
        await db
          .insertInto('skill_entries')
          .values([...rows.slice(at, at + 50)])
          .execute()
      }
    },
  }
}
