import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryEntry, LeftOutPath } from '@roost/contracts/link/history'
import { historyStore, type RecordRow, type RunRecordsRow, storeName } from '../agents/history/index.ts'
import type { Db } from '../ports/database/port.ts'
import { openGitStore } from '../ports/workspace-history/git-store.ts'
import type { WorkspaceHistory } from '../ports/workspace-history/port.ts'

/** Files by path (bytes as characters): content, or an entry with its content. Null: a folder. */
export type TestTree = Record<string, string | null | (Partial<HistoryEntry> & { content: string })>

/** A real store in a temporary folder. */
export async function openTestHistory(): Promise<{ history: WorkspaceHistory } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-history-'))
  const history = await openGitStore({ folder, path: process.env.PATH ?? '' })
  return {
    history,
    async [Symbol.asyncDispose]() {
      await history.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Stores a whole workspace as the agent's next record; each one is complete, so that it needs no base. */
export async function insertRecord(
  { db, history }: { db: Db; history: WorkspaceHistory },
  agentId: string,
  tree: TestTree,
  over: Partial<Omit<RecordRow, 'left_out'>> & { leftOut?: LeftOutPath[] } = {},
): Promise<RecordRow> {
  const { leftOut = [], ...fields } = over
  const store = historyStore(db)
  const base = await store.latest(agentId)
  const id = fields.id ?? crypto.randomUUID()
  await using draft = await history.open({ agent: storeName(agentId), base: null, maxBytes: 1e9 })
  const known = new Set<string>()
  for (const [path, given] of Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const parts = path.split('/')
    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = parts.slice(0, depth).join('/')
      if (!known.has(parent)) await draft.folder(entryOf(parent, { kind: 'folder', mode: 0o755 }))
      known.add(parent)
    }
    if (given === null) {
      await draft.folder(entryOf(path, { kind: 'folder', mode: 0o755 }))
      known.add(path)
      continue
    }
    const { content, ...attributes } = typeof given === 'string' ? { content: given } : given
    await draft.put(entryOf(path, { size: content.length, ...attributes }), bytesOf(content))
  }
  await draft.commit(id)
  return store.insert({
    ...{ id, agent_id: agentId, reason: 'after_run', created_at: '2026-01-05T07:00:00.000Z' },
    ...{ base_id: base?.id ?? null, source_id: null, is_changed: 1, received_bytes: 0, rules: null },
    ...{ added: 0, changed: 0, deleted: 0, renamed: 0, pinned: 0, pinned_by: null, attempt_set_id: null },
    ...{ left_out: JSON.stringify(leftOut), left_out_count: leftOut.length },
    ...fields,
  })
}

/** Stores the records of a run. */
export async function insertRunRecords(
  db: Db,
  run: Pick<RunRecordsRow, 'execution_id' | 'agent_id'> & Partial<RunRecordsRow>,
): Promise<void> {
  await historyStore(db).beginRuns([
    {
      ...{ outcome: 'recorded', reason: null, before_id: null, after_id: null },
      ...{ overlapped: '[]', overlapped_count: 0 },
      ...{ started_at: '2026-01-05T07:00:00.000Z', ended_at: '2026-01-05T07:01:00.000Z', by_owner: 1 },
      ...run,
    },
  ])
}

function entryOf(path: string, over: Partial<HistoryEntry>): HistoryEntry {
  return { path, kind: 'file', mode: 0o644, owner: true, size: 0, sparse: false, ...over }
}

async function* bytesOf(content: string): AsyncGenerator<Buffer> {
  yield Buffer.from(content, 'latin1')
}
