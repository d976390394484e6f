import type { CreateSkillSource, SkillSource, UpdateSkillSource } from '@roost/contracts/skills/sources'
import { communityPriority } from '@roost/contracts/skills/sources'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Git, GitRef } from '../../ports/git/port.ts'
import { bundledUrl, isReleaseTag, sourceView, unsynced } from './rules.ts'
import { type SourceRow, sourceStore } from './store.ts'

/** The configured community source; `bundled` comes with the platform, null disables it. */
export type DefaultSource = { url: 'bundled' | string; ref: string } | null

export type SourcesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  git: Pick<Git, 'address' | 'checkRef'>
  defaultSource: DefaultSource
  /** Called in the transaction that removes a source, to remove its skills. */
  removed(tx: Tx, sourceId: string): Promise<void>
}

export type Sources = {
  /** In order of name resolution. */
  list(): Promise<SkillSource[]>
  /** Throws `invalid_skill_source`, `already_exists`. */
  create(request: CreateSkillSource, by: string): Promise<SkillSource>
  /** Throws `source_not_found`, and the faults of `create`. */
  update(id: string, request: UpdateSkillSource): Promise<SkillSource>
  /** Throws `source_not_found`. */
  remove(id: string): Promise<void>
  /** Applies the configuration to the community source, at start. Throws `invalid_skill_source`. */
  ensureDefault(): Promise<void>
}

const communityName = 'community'

export function createSources({ db, clock, git, defaultSource, removed }: SourcesDeps): Sources {
  function addressOf(url: string): string {
    const checked = git.address(url)
    if (!checked.ok) {
      throw new Fault('invalid_skill_source', `The repository's address ${checked.message}.`, {
        field: 'url',
      })
    }
    return checked.value
  }

  function checkRef(ref: GitRef): void {
    const invalid = git.checkRef(ref)
    if (invalid) {
      const sentence = `The ref "${ref.name.slice(0, 100)}" ${invalid.message}.`
      throw new Fault('invalid_skill_source', sentence, { field: 'ref' })
    }
  }

  const noRelease = (ref: string) =>
    new Fault(
      'invalid_skill_source',
      `The community source is pinned to a release tag of the form v<major>.<minor>.<patch>, not to "${ref.slice(0, 100)}".`,
      { field: 'ref' },
    )

  const nameTaken = (name: string) =>
    new Fault('already_exists', `There is a source named "${name}" already.`)

  function blank(row: Pick<SourceRow, 'name' | 'url' | 'ref' | 'ref_type' | 'priority'>): SourceRow {
    const now = timestamp(clock.now())
    const nothing = { skills_root: null, layout_conflict: 0, skill_count: 0, created_by: null }
    const initial = { id: newId(), is_default: 0, enabled: 1, created_at: now, updated_at: now }
    return { ...unsynced, ...nothing, ...initial, ...row }
  }

  async function put(tx: Tx, before: SourceRow, request: UpdateSkillSource): Promise<void> {
    const { enabled, url: newUrl, ...plain } = request
    const url = newUrl === undefined || newUrl === before.url ? before.url : addressOf(newUrl)
    const ref = plain.ref ?? before.ref
    const ref_type = plain.ref_type ?? before.ref_type
    checkRef({ kind: ref_type, name: ref })
    const tracksOther = url !== before.url || ref !== before.ref || ref_type !== before.ref_type
    if (tracksOther && before.url === bundledUrl) {
      throw new Fault('invalid_skill_source', 'This source comes with the platform; it can be switched off.')
    }
    const store = sourceStore(tx)
    if (plain.name !== undefined && (await store.isTaken(plain.name, before.id))) throw nameTaken(plain.name)
    await store.update(before.id, {
      ...plain,
      url,
      ...(enabled === undefined ? {} : { enabled: enabled ? 1 : 0 }),
      ...(tracksOther ? unsynced : {}),
      updated_at: timestamp(clock.now()),
    })
  }

  const requireSource = async (executor: Db | Tx, id: string) => {
    const row = await sourceStore(executor).byId(id)
    if (!row) throw new Fault('source_not_found')
    return row
  }

  return {
    list: async () => (await sourceStore(db).all()).map(sourceView),

    async create(request, by) {
      const { enabled, ...rest } = request
      checkRef({ kind: request.ref_type, name: request.ref })
      const row = {
        ...blank({ ...rest, url: addressOf(request.url) }),
        enabled: enabled ? 1 : 0,
        created_by: by,
      }
      if (!(await db.atomically((tx) => sourceStore(tx).insert(row)))) throw nameTaken(row.name)
      return sourceView(row)
    },

    async update(id, request) {
      await db.atomically(async (tx) => put(tx, await requireSource(tx, id), request))
      return sourceView(await requireSource(db, id))
    },

    remove: (id) =>
      db.atomically(async (tx) => {
        if (!(await sourceStore(tx).remove(id))) throw new Fault('source_not_found')
        await removed(tx, id)
      }),

    async ensureDefault() {
      const url =
        defaultSource && (defaultSource.url === 'bundled' ? bundledUrl : addressOf(defaultSource.url))
      if (defaultSource && url !== bundledUrl) checkRef({ kind: 'tag', name: defaultSource.ref })
      await db.atomically(async (tx) => {
        const store = sourceStore(tx)
        const [before, ...others] = (await store.all()).filter((row) => row.is_default === 1)
        for (const row of [...others, ...(before && before.url !== url ? [before] : [])]) {
          await store.remove(row.id)
          await removed(tx, row.id)
        }
        if (url === null || !defaultSource) return
        if (before?.url === url) {
          // The pinned tag of the bundled source changes with each release of the platform.
          const isMoved = url === bundledUrl && before.ref !== defaultSource.ref
          if (isMoved) await store.update(before.id, { ref: defaultSource.ref, ref_type: 'tag' })
          return
        }
        if (!isReleaseTag(defaultSource.ref)) throw noRelease(defaultSource.ref)
        const tracked = { url, ref: defaultSource.ref, ref_type: 'tag' as const }
        const row = {
          ...blank({ ...tracked, name: communityName, priority: communityPriority }),
          is_default: 1,
        }
        // The name may belong to another source, or another process was faster.
        if (!(await store.insert(row)) && !(await store.all()).some((each) => each.is_default === 1)) {
          await store.insert({ ...row, name: `${communityName}-${row.id.slice(0, 6)}` })
        }
      })
    },
  }
}
