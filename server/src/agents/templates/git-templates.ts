import type { TemplateDetails, TemplateEntry } from '@roost/contracts/agents/templates'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import { createTurns } from '../../kit/turns.ts'
import type { ContentStore } from './content-store.ts'
import { type DescribedTemplate, detailsOf, entryOf, unknownEntry } from './described.ts'
import { createGitRead, type GitReadDeps, type GitTemplate, requireValue } from './git-read.ts'

export type GitTemplateName = { repository: string; branch: string | null }

/** A repository's template with its files unpacked. */
export type UnpackedTemplate = GitTemplate & { folder: string }

export type GitTemplates = {
  /** The entries of the admin's list, in its order, without hidden templates. */
  list(): Promise<TemplateEntry[]>
  /** Looks in the admin's list. Throws `template_not_found`, `template_unresolvable`, `upstream_error`. */
  find(id: string): Promise<DescribedTemplate>
  get(id: string): Promise<TemplateDetails>
  /** Reloads the whole list. */
  refresh(): Promise<{ refreshed: number; failed: { id: string; error: string }[] }>
  /** The current content of any repository. Throws `template_unresolvable`, `upstream_error`. */
  resolve(name: GitTemplateName, token: Secret | null): Promise<UnpackedTemplate>
  /** The folder with the files of a commit, unpacked again if needed. Throws as `resolve`. */
  folderAt(repository: string, commit: string, token: Secret | null): Promise<string>
}

export type GitTemplatesDeps = GitReadDeps & {
  /** `owner/repo` of each entry of the admin's list. */
  repositories(): Promise<readonly string[]>
  /** The platform's own token, or null. */
  platformToken(): Secret | null
  content: Pick<ContentStore, 'unpack'>
  clock: Pick<Clock, 'now'>
}

/** `last` is the last successful result; `error` explains a failure at `at`. */
type Cached = { at: number; last: DescribedTemplate | null; error: Fault | null }

const cacheMs = 10 * 60_000
/** A failing host is retried soon, but not with every list request. */
const failedMs = 60_000
const maxConcurrentReads = 4
/** Short, because callers wait for the list. */
const metadataSeconds = 15

export function createGitTemplates(deps: GitTemplatesDeps): GitTemplates {
  const { clock, content, repositories, platformToken } = deps
  const { read, contentAt } = createGitRead(deps)
  const limit = createTurns(maxConcurrentReads)
  const cache = new Map<string, Promise<Cached>>()

  async function current(repository: string): Promise<Cached> {
    const cached = await cache.get(repository)
    if (cached) {
      const age = clock.now().getTime() - cached.at
      if (age >= 0 && age < (cached.error ? failedMs : cacheMs)) return cached
    }
    return reload(repository)
  }

  function reload(repository: string): Promise<Cached> {
    const before = cache.get(repository)
    const reading = limit(() => load(repository, before))
    cache.set(repository, reading)
    // Internal errors are not cached.
    reading.catch(() => {
      if (cache.get(repository) === reading) cache.delete(repository)
    })
    return reading
  }

  async function load(repository: string, before: Promise<Cached> | undefined): Promise<Cached> {
    const at = clock.now().getTime()
    try {
      return { at, last: await read(repository, null, platformToken(), metadataSeconds), error: null }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const last = (await before?.catch(() => null))?.last ?? null
      return { at, last, error }
    }
  }

  async function find(id: string): Promise<DescribedTemplate> {
    const repository = (await repositories()).find((each) => `github:${each}` === id)
    if (repository === undefined) {
      throw new Fault('template_not_found', `There is no template "${id.slice(0, 100)}".`)
    }
    const { last, error } = await current(repository)
    if (last) return last
    throw error ?? new Fault('template_not_found')
  }

  return {
    find,
    get: async (id) => detailsOf(await find(id)),

    async list() {
      const listed = await repositories()
      // Repositories removed from the list are read again when they are added back.
      for (const name of cache.keys()) if (!listed.includes(name)) cache.delete(name)
      const all = await Promise.all(
        listed.map(async (repository) => ({ repository, last: (await current(repository)).last })),
      )
      return all.flatMap(({ repository, last }) => {
        if (last === null) return [unknownEntry(repository)]
        return last.file.hidden ? [] : [entryOf(last)]
      })
    },

    async refresh() {
      const all = await Promise.all(
        (await repositories()).map(async (repository) => ({ repository, ...(await reload(repository)) })),
      )
      const failed = all.flatMap(({ repository, error }) =>
        error ? [{ id: `github:${repository}`, error: error.message }] : [],
      )
      return { refreshed: all.length - failed.length, failed }
    },

    async resolve({ repository, branch }, token) {
      const template = await read(repository, branch, token)
      const folder = await content.unpack(repository, template.commit, template.content)
      return { ...template, folder: requireValue(repository, folder) }
    },

    async folderAt(repository, commit, token) {
      const plan = await contentAt(repository, commit, token)
      return requireValue(repository, await content.unpack(repository, commit, plan))
    },
  }
}
