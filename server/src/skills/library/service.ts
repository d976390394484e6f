import type { Skill, SkillDetail, SkillLibraryStatus } from '@roost/contracts/skills/library'
import { skillNamePattern } from '@roost/contracts/skills/library'
import type { SkillSync } from '@roost/contracts/skills/sources'
import type { Loop } from '../../background/loops.ts'
import { Fault } from '../../kit/fault.ts'
import type { Executor, Tx } from '../../ports/database/port.ts'
import { type SourceRow, sourceStore, sourceView } from '../sources/index.ts'
import { effectiveSkills } from './effective.ts'
import type { SkillFacts } from './frontmatter.ts'
import type { Package } from './rules.ts'
import { type EntryHead, entryStore } from './store.ts'
import { createSync, type SyncDeps } from './sync.ts'

/** For git caches of repositories that are not sources, such as those of templates. */
const unusedCacheMs = 7 * 24 * 3600_000

export type LibraryDeps = SyncDeps & {
  autoSync(): { enabled: boolean; intervalSeconds: number }
}

/** A skill for delivery. */
export type LibrarySkill = {
  name: string
  version: string
  commit: string
  source: { id: string; name: string; url: string }
  size_bytes: number
  shadowed_by: string[]
  facts: SkillFacts
}

export type Library = {
  list(): Promise<Skill[]>
  /** Throws `invalid_skill_name`, `skill_not_found`. */
  detail(name: string): Promise<SkillDetail>
  /** Fields for admins are omitted for others. */
  status(isAdmin: boolean): Promise<SkillLibraryStatus>
  /** Syncs every enabled source. Throws `sync_failed`, `sync_in_progress`. */
  syncAll(trigger: string): Promise<SkillSync>
  /** Throws `source_not_found`, and the faults of `syncAll`. */
  syncSource(id: string, trigger: string): Promise<SkillSync>
  /** The winning skill of each name; pass a transaction to read inside it. */
  resolve(executor?: Executor): Promise<Map<string, LibrarySkill>>
  package(skill: LibrarySkill): Promise<Package | null>
  /** Hook for the removal of a source. */
  sourceRemoved(tx: Tx, sourceId: string): Promise<void>
  loops: Loop[]
}

/** Throws `invalid_skill_name`. */
export function requireSkillName(name: string): string {
  if (!skillNamePattern.test(name)) {
    throw new Fault('invalid_skill_name', `"${name.slice(0, 100)}" is not a skill name.`)
  }
  return name
}

export function createLibrary(deps: LibraryDeps): Library {
  const { db, clock } = deps
  const sync = createSync(deps)

  async function resolved(executor: Executor = db) {
    const { sources, enabled, winners } = await effectiveSkills(executor)
    const urls = new Map(enabled.map(({ id, url }) => [id, url]))
    return { sources, urls, winners }
  }

  async function syncAll(trigger: string): Promise<SkillSync> {
    const sources = await sourceStore(db).all()
    const ids = sources.filter((source) => source.enabled === 1).map(({ id }) => id)
    return sync(ids, trigger)
  }

  return {
    list: async () => (await resolved()).winners.map(skillView),

    async detail(name) {
      requireSkillName(name)
      const winner = (await resolved()).winners.find(({ entry }) => entry.name === name)
      const row = winner && (await entryStore(db).find(winner.source.id, name))
      if (!winner || !row) throw new Fault('skill_not_found', `There is no skill "${name}" in the library.`)
      // Written by the sync only.
      const { files, warnings } = JSON.parse(row.package) as Package
      return {
        ...skillView(winner),
        content: row.content,
        files: files.map(({ path, size, executable }) => ({ path, size_bytes: size, executable })),
        warnings: [...factsOf(row).warnings, ...warnings],
      }
    },

    async status(isAdmin) {
      const { sources, winners } = await resolved()
      const [newest] = sources
        .filter((source) => source.last_sync_at !== null)
        .sort((a, b) => ((a.last_sync_at ?? '') < (b.last_sync_at ?? '') ? 1 : -1))
      return {
        configured: sources.length > 0,
        sources: sources.map((source) => statusOf(source, isAdmin)),
        source_count: sources.length,
        enabled_source_count: sources.filter((source) => source.enabled === 1).length,
        skill_count: winners.length,
        multi_file_count: winners.filter(({ entry }) => entry.file_count > 1).length,
        shadowed_count: winners.reduce((sum, { shadowed_by }) => sum + shadowed_by.length, 0),
        last_sync_at: newest?.last_sync_at ?? null,
        last_sync_status: newest?.last_sync_status ?? null,
      }
    },

    syncAll,
    async syncSource(id, trigger) {
      if (!(await sourceStore(db).byId(id))) throw new Fault('source_not_found')
      return sync([id], trigger)
    },

    async resolve(executor) {
      const { winners, urls } = await resolved(executor)
      return new Map(
        winners.map(({ entry, source, shadowed_by }) => [
          entry.name,
          {
            name: entry.name,
            version: entry.version,
            commit: entry.commit_sha,
            source: { ...source, url: urls.get(source.id) ?? '' },
            size_bytes: entry.size_bytes,
            shadowed_by,
            facts: factsOf(entry),
          },
        ]),
      )
    },

    async package(skill) {
      const row = await entryStore(db).find(skill.source.id, skill.name)
      // A sync has replaced the resolved version.
      if (row?.version !== skill.version) return null
      // Written by the sync only.
      return JSON.parse(row.package) as Package
    },

    sourceRemoved: (tx, sourceId) => entryStore(tx).replace(sourceId, []),

    loops: [
      {
        name: 'skills.auto-sync',
        everySeconds: 60,
        deadlineSeconds: 600,
        async run() {
          const { enabled, intervalSeconds } = deps.autoSync()
          if (!enabled) return
          const before = clock.now().getTime() - intervalSeconds * 1000
          const due = (await sourceStore(db).all()).filter(
            ({ enabled, last_sync_at }) =>
              enabled === 1 && (last_sync_at === null || Date.parse(last_sync_at) <= before),
          )
          if (due.length === 0) return
          await sync(
            due.map(({ id }) => id),
            'auto_sync',
          ).catch((error: unknown) => {
            // Stored with each source, visible to admins.
            if (!(error instanceof Fault)) throw error
          })
        },
      },
      {
        name: 'skills.git-caches',
        everySeconds: 86_400,
        deadlineSeconds: 1800,
        async run() {
          const sources = await sourceStore(db).all()
          // Delivery reads from the caches of sources, so they are not pruned.
          const sourceCommits = new Map<string, string[]>()
          for (const { url, last_commit_sha } of sources) {
            sourceCommits.set(url, [
              ...(sourceCommits.get(url) ?? []),
              ...(last_commit_sha === null ? [] : [last_commit_sha]),
            ])
          }
          await deps.git.prune(sourceCommits, new Date(clock.now().getTime() - unusedCacheMs))
        },
      },
    ],
  }
}

type Winner = { entry: EntryHead; source: { id: string; name: string }; shadowed_by: string[] }

function skillView({ entry, source, shadowed_by }: Winner): Skill {
  const { warnings: _, title: __, ...facts } = factsOf(entry)
  return {
    name: entry.name,
    ...facts,
    source: source.name,
    source_name: source.name,
    source_id: source.id,
    shadowed_by,
    path: entry.path,
    version: entry.version,
    multi_file: entry.file_count > 1,
    file_count: entry.file_count,
    size_bytes: entry.size_bytes,
  }
}

function factsOf({ facts }: Pick<EntryHead, 'facts'>): SkillFacts {
  // Written by the sync only.
  return JSON.parse(facts) as SkillFacts
}

function statusOf(row: SourceRow, isAdmin: boolean) {
  const view = sourceView(row)
  return isAdmin ? view : { ...view, url: null, last_error: row.last_fault }
}
