import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAgentName } from '@roost/contracts/agents/agent'
import type { TemplateDetails, TemplateEntry } from '@roost/contracts/agents/templates'
import type { Clock } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import { openFolderArchive } from './archive.ts'
import type { ContentStore } from './content-store.ts'
import { envSkeleton } from './credentials.ts'
import { type DescribedTemplate, detailsOf, entryOf, nameOf } from './described.ts'
import type { GitTemplates } from './git-templates.ts'
import { type LocalTemplate, type LocalTemplates, readLocalTemplates } from './local.ts'
import { type ReadTemplate, readTemplate } from './parse.ts'
import { parseTemplateName } from './template-name.ts'

/** A template that is ready for creating an agent. */
export type ResolvedTemplate = DescribedTemplate & {
  /** Absolute path. */
  folder: string
  /** Null for a local template. `leftOut` lists submodule paths, which are not in the workspace. */
  git: { repository: string; branch: string; commit: string; leftOut: string[] } | null
}

export type Templates = {
  /** All visible templates: local ones by name, then those of the admin's list. */
  list(): Promise<TemplateEntry[]>
  /** Throws `template_not_found`, `template_unresolvable`, `upstream_error`. */
  get(id: string): Promise<TemplateDetails>
  env(id: string): Promise<string>
  refresh(): Promise<{ refreshed: number; failed: { id: string; error: string }[] }>
  /**
   * Resolves the template of a create request: `local:<name>`, `<name>` or `github:owner/repo[@branch]`.
   * `token` provides the token for private repositories. Throws `template_unresolvable`, `upstream_error`.
   */
  resolve(given: string, token: () => Promise<Secret | null>): Promise<ResolvedTemplate>
  /** The template that an agent was created from; null without one or if it no longer exists. */
  madeFrom(agent: MadeFrom): Promise<{ name: string; folder: string } | null>
  /**
   * The files of the template for the workspace of a new agent; null as above. What another process unpacked is
   * fetched again, with `token` for a private repository. Throws `upstream_error`.
   */
  folderFor(agent: MadeFrom, token: () => Promise<Secret | null>): Promise<string | null>
  /** The `template.yaml` an agent was created from; null as above, or if it is unreadable. */
  fileOf(agent: MadeFrom): Promise<ReadTemplate | null>
}

/** An agent's template as requested at creation, and the commit used for a repository. */
export type MadeFrom = { template: string | null; template_commit: string | null }

export type TemplatesDeps = {
  /** Contains one folder for each bundled template. */
  folder: string
  git: GitTemplates
  content: Pick<ContentStore, 'folderOf'>
  clock: Pick<Clock, 'now'>
}

type Cached = LocalTemplates & { at: number }

const cacheMs = 10 * 60_000

export function createTemplates({ folder, git, content, clock }: TemplatesDeps): Templates {
  let cached: Promise<Cached> | null = null

  async function current(): Promise<Cached> {
    const fresh = await cached?.catch(() => null)
    if (fresh && clock.now().getTime() - fresh.at < cacheMs) return fresh
    return reload()
  }

  function reload(): Promise<Cached> {
    const at = clock.now().getTime()
    const reading = readLocalTemplates(folder).then((read) => ({ at, ...read }))
    cached = reading
    return reading
  }

  async function findLocal(id: string): Promise<LocalTemplate> {
    const { templates, failed } = await current()
    const found = templates.find((template) => template.id === id)
    if (found) return found
    const broken = failed.find((failure) => failure.id === id)
    if (broken) throw new Fault('template_unresolvable', broken.error)
    throw new Fault('template_not_found', `There is no template "${id.slice(0, 100)}".`)
  }

  const find = (id: string): Promise<DescribedTemplate> =>
    id.startsWith('github:') ? git.find(id) : findLocal(id)

  async function resolveLocal(given: string): Promise<LocalTemplate> {
    const name = given.startsWith('local:') ? given.slice('local:'.length) : given
    try {
      if (!isAgentName(name)) throw new Fault('template_not_found')
      return await findLocal(`local:${name}`)
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'template_not_found') throw error
      throw new Fault('template_unresolvable', `There is no template "${given.slice(0, 100)}".`)
    }
  }

  async function madeFrom({ template, template_commit }: MadeFrom) {
    if (template === null) return null
    const name = parseTemplateName(template)
    if (name !== null) {
      const folder = template_commit && (await content.folderOf(name.repository, template_commit))
      return folder ? { name: nameOf(name.repository), folder } : null
    }
    return resolveLocal(template).then(
      ({ name, folder }) => ({ name, folder }),
      (error: unknown) => {
        // The template was removed later; the workspace already has its files.
        if (isFault(error, 'template_unresolvable')) return null
        throw error
      },
    )
  }

  return {
    async list() {
      const [{ templates }, fromGit] = await Promise.all([current(), git.list()])
      return [...templates.filter((template) => !template.file.hidden).map(entryOf), ...fromGit]
    },

    get: async (id) => detailsOf(await find(id)),

    async env(id) {
      const { file, required } = await find(id)
      return envSkeleton(file.display_name, required, file.credential_setup)
    },

    async refresh() {
      const [{ templates, failed }, fromGit] = await Promise.all([reload(), git.refresh()])
      return { refreshed: templates.length + fromGit.refreshed, failed: [...failed, ...fromGit.failed] }
    },

    async resolve(given, token) {
      const name = parseTemplateName(given)
      if (name === null) {
        const template = await resolveLocal(given)
        // Throws if it exceeds the limits, before an agent waits for it.
        await openFolderArchive(template.folder)
        return { ...template, git: null }
      }
      const { repository, branch, commit, content, ...template } = await git.resolve(name, await token())
      return { ...template, repository, git: { repository, branch, commit, leftOut: content.leftOut } }
    },

    madeFrom,

    async folderFor(agent, token) {
      const known = await madeFrom(agent)
      if (known) return known.folder
      const name = agent.template === null ? null : parseTemplateName(agent.template)
      if (name === null || agent.template_commit === null) return null
      try {
        return await git.folderAt(name.repository, agent.template_commit, await token())
      } catch (error) {
        if (isFault(error, 'template_unresolvable')) return null
        throw error
      }
    },

    async fileOf(agent) {
      const source = await madeFrom(agent)
      if (!source) return null
      try {
        return readTemplate(await readFile(join(source.folder, 'template.yaml'), 'utf8'))
      } catch (error) {
        if (isFault(error, 'template_unresolvable')) return null
        throw error
      }
    },
  }
}
