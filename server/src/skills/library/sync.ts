import type { FieldsOf } from '@roost/contracts/kit/event'
import type { skillsLibrarySynced } from '@roost/contracts/skills/library'
import type { SkillSync } from '@roost/contracts/skills/sources'
import type { Leases } from '../../foundation/leases/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Git } from '../../ports/git/port.ts'
import { bundledUrl, type SourceRow, sourceStore } from '../sources/index.ts'
import { effectiveSkills } from './effective.ts'
import { type ReadRepository, readRepository } from './read-repository.ts'
import { entryStore } from './store.ts'

export type SyncDeps = {
  db: Db
  clock: Clock
  leases: Pick<Leases, 'take' | 'release'>
  events: Pick<Outbox, 'append'>
  git: Git
  /** Absolute path of the bundled skills. */
  bundledFolder: string
  /** For private repositories; null without a token. */
  gitToken(): string | null
  /** Called after a change of the library, to update the agents. False if automatic updates are disabled. */
  changed(trigger: string, commit: string | null): boolean
}

type Result = SkillSync['sources'][number] & { changed: boolean }

const leaseSeconds = 300

/** Reads sources into the library. A source that fails keeps its last state. */
export function createSync(deps: SyncDeps) {
  const { db, clock, leases, events, git } = deps

  async function fetch({ url, ref, ref_type }: SourceRow) {
    if (url === bundledUrl) return git.bundle(url, deps.bundledFolder)
    return git.fetch(url, { kind: ref_type, name: ref }, { token: deps.gitToken() })
  }

  async function read(source: SourceRow): Promise<Result> {
    const base = { id: source.id, name: source.name, skill_count: null, error: null, changed: false }
    const got = await fetch(source)
    if (!got.ok) return failed(source, got)
    const { commit } = got.value
    // The bundled skills change with each release of the platform.
    const isPinned = source.ref_type === 'tag' && source.url !== bundledUrl
    if (isPinned && source.last_commit_sha !== null && source.last_commit_sha !== commit) {
      const error = `The tag "${source.ref}" points to another commit than the one it was pinned to.`
      await note(source, { last_sync_status: 'moved_tag', last_error: error, last_fault: 'moved_tag' })
      return { ...base, status: 'moved_tag', commit_sha: commit, error }
    }
    const found = await readRepository(git, { url: source.url, commit })
    if (!found.ok) return failed(source, found)
    await store(source, commit, found)
    const changed = source.last_commit_sha !== commit
    return { ...base, status: 'ok', commit_sha: commit, skill_count: found.skills.length, changed }
  }

  async function store(source: SourceRow, commit: string, found: ReadRepository & { ok: true }) {
    const { skills, skillsRoot, hasConflict } = found
    await db.atomically(async (tx) => {
      const isStored = await sourceStore(tx).settle(source, {
        last_sync_at: timestamp(clock.now()),
        last_sync_status: 'success',
        last_commit_sha: commit,
        last_error: null,
        last_fault: null,
        skills_root: skillsRoot,
        layout_conflict: hasConflict ? 1 : 0,
        skill_count: skills.length,
      })
      if (!isStored) return
      await entryStore(tx).replace(
        source.id,
        skills.map((skill) => ({ ...skill, source_id: source.id })),
      )
    })
  }

  async function failed(
    source: SourceRow,
    { fault, message }: { fault: string; message: string },
  ): Promise<Result> {
    await note(source, { last_sync_status: 'failed', last_error: message, last_fault: fault })
    const { id, name } = source
    return { id, name, status: 'failed', commit_sha: null, skill_count: null, error: message, changed: false }
  }

  async function note(source: SourceRow, patch: Partial<SourceRow>): Promise<void> {
    await sourceStore(db).settle(source, { ...patch, last_sync_at: timestamp(clock.now()) })
  }

  async function syncOne(id: string): Promise<Result | null> {
    const lease = await leases.take(`skills.source:${id}`, newId(), leaseSeconds)
    try {
      const source = await sourceStore(db).byId(id)
      if (!source) return null
      if (lease) return await read(source)
      const { name } = source
      return { id, name, status: 'busy', commit_sha: null, skill_count: null, error: null, changed: false }
    } finally {
      if (lease) await leases.release(lease)
    }
  }

  /** Throws `sync_in_progress` if all sources are busy, and `sync_failed` if all fail. */
  return async function sync(ids: readonly string[], trigger: string): Promise<SkillSync> {
    const results: Result[] = []
    for (const id of ids) {
      const result = await syncOne(id)
      if (result) results.push(result)
    }
    const sources = results.map(({ changed: _, ...view }) => view)
    const of = (status: Result['status']) => sources.filter((source) => source.status === status)
    const skills_count = (await effectiveSkills(db)).winners.length
    if (sources.length > of('busy').length) {
      const fields: FieldsOf<typeof skillsLibrarySynced> = {
        skills_count,
        sources: sources.map(({ name, status }) => ({ name, status })),
      }
      const event = { type: 'skills.library_synced', agent_names: [], agent_ids: [], fields }
      await db.atomically((tx) => events.append(tx, event, clock.now()))
    }
    if (sources.length > 0 && of('busy').length === sources.length) throw new Fault('sync_in_progress')
    if (sources.length > 0 && of('failed').length === sources.length) {
      const [first] = sources
      throw new Fault('sync_failed', first?.error ?? undefined, { sources })
    }
    const changed = results.filter((result) => result.changed)
    const fleet_reinject_started = changed.length > 0 && deps.changed(trigger, changed[0]?.commit_sha ?? null)
    const message =
      sources.length === 0
        ? 'No source is enabled.'
        : `${of('ok').length} of ${sources.length} sources are up to date.`
    return {
      success: sources.length === 0 || of('ok').length > 0,
      skills_count,
      message,
      commit_changed: changed.length > 0,
      sources,
      fleet_reinject_started,
    }
  }
}
