import type { TemplateDetails, TemplateEntry } from '@roost/contracts/agents/templates'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import { createTurns } from '../../kit/turns.ts'
import type { ContentStore } from './content-store.ts'
import { type DescribedTemplate, detailsOf, entryOf, unknownEntry } from './described.ts'
import { createGitRead, type GitReadDeps, type GitTemplate, known } from './git-read.ts'

export type GitTemplateName = { repository: string; branch: string | null }

/** A template of a repository, with its files unpacked. */
export type UnpackedTemplate = GitTemplate & { folder: string }

export type GitTemplates = {
  /** Of the admin's list, in its order; what is hidden is left out. */
  list(): Promise<TemplateEntry[]>
  /** Of the admin's list. Throws `template_not_found`, `template_unresolvable`, `upstream_error`. */
  find(id: string): Promise<DescribedTemplate>
  get(id: string): Promise<TemplateDetails>
  /** Reads all of the list anew. */
  refresh(): Promise<{ refreshed: number; failed: { id: string; error: string }[] }>
  /** Any repository, as it is now. Throws `template_unresolvable`, `upstream_error`. */
  resolve(name: GitTemplateName, token: Secret | null): Promise<UnpackedTemplate>
}

export type GitTemplatesDeps = GitReadDeps & {
  /** `owner/repo`, from the admin's list. */
  repositories(): Promise<readonly string[]>
  /** The platform's own; null for none. */
  platformToken(): Secret | null
  content: Pick<ContentStore, 'unpack'>
  clock: Pick<Clock, 'now'>
}

/** `last` is what was read last; `error` says why that is not from `at`. */
type Known = { at: number; last: DescribedTemplate | null; error: Fault | null }

const cacheMs = 10 * 60_000
/** A host that is down is asked again soon, and not with every list. */
const failedMs = 60_000
const atOnce = 4
/** Somebody waits for the list. */
const metadataSeconds = 15

export function createGitTemplates(deps: GitTemplatesDeps): GitTemplates {
  const { clock, content, repositories, platformToken } = deps
  const read = createGitRead(deps)
  const turns = createTurns(atOnce)
  const cache = new Map<string, Promise<Known>>()

  async function current(repository: string): Promise<Known> {
    const held = await cache.get(repository)
    if (held) {
      const age = clock.now().getTime() - held.at
      if (age >= 0 && age < (held.error ? failedMs : cacheMs)) return held
    }
    return reload(repository)
  }

  function reload(repository: string): Promise<Known> {
    const before = cache.get(repository)
    const reading = turns(() => load(repository, before))
    cache.set(repository, reading)
    // What went wrong in the platform itself is not remembered.
    reading.catch(() => {
      if (cache.get(repository) === reading) cache.delete(repository)
    })
    return reading
  }

  async function load(repository: string, before: Promise<Known> | undefined): Promise<Known> {
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
      // Who was taken off the list is read anew when put on it again.
      for (const held of cache.keys()) if (!listed.includes(held)) cache.delete(held)
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
      return { ...template, folder: known(repository, folder) }
    },
  }
}
