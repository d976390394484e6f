import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAgentName } from '@roost/contracts/agents/agent'
import type { TemplateDetails, TemplateEntry } from '@roost/contracts/agents/templates'
import type { Clock } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import type { ContentStore } from './content-store.ts'
import { envSkeleton } from './credentials.ts'
import { type DescribedTemplate, detailsOf, entryOf, nameOf } from './described.ts'
import type { GitTemplates } from './git-templates.ts'
import { type LocalTemplate, type LocalTemplates, readLocalTemplates } from './local.ts'
import { type ReadTemplate, readTemplate } from './parse.ts'
import { parseTemplateName } from './template-name.ts'

/** A template that an agent can be made from now. */
export type ResolvedTemplate = DescribedTemplate & {
  /** Absolute; mounted read-only at /template. */
  folder: string
  /** Null for a local one. `leftOut`: paths of submodules, which are not in the workspace. */
  git: { repository: string; branch: string; commit: string; leftOut: string[] } | null
}

export type Templates = {
  /** Without hidden ones, by name, and those of the admin's list after them. */
  list(): Promise<TemplateEntry[]>
  /** Throws `template_not_found`, `template_unresolvable`, `upstream_error`. */
  get(id: string): Promise<TemplateDetails>
  env(id: string): Promise<string>
  refresh(): Promise<{ refreshed: number; failed: { id: string; error: string }[] }>
  /**
   * What a create request names: `local:<name>`, `<name>`, `github:owner/repo[@branch]`. `token` answers with
   * what a private repository may be read with. Throws `template_unresolvable`, `upstream_error`.
   */
  resolve(given: string, token: () => Promise<Secret | null>): Promise<ResolvedTemplate>
  /** What an agent was made from; null when it was made from none, or that is not there any more. */
  madeFrom(agent: MadeFrom): Promise<{ name: string; folder: string } | null>
  /** `template.yaml` of what an agent was made from; null as above, and when it cannot be read. */
  fileOf(agent: MadeFrom): Promise<ReadTemplate | null>
}

/** Of an agent: what was named at its creation, and for a repository the commit that was taken. */
export type MadeFrom = { template: string | null; template_commit: string | null }

export type TemplatesDeps = {
  /** One folder for each bundled template. */
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
    const held = await cached?.catch(() => null)
    if (held && clock.now().getTime() - held.at < cacheMs) return held
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
      // Taken away since: the workspace was made from it long ago.
      () => null,
    )
  }

  return {
    async list() {
      const [{ templates }, ofGit] = await Promise.all([current(), git.list()])
      return [...templates.filter((template) => !template.file.hidden).map(entryOf), ...ofGit]
    },

    get: async (id) => detailsOf(await find(id)),

    async env(id) {
      const { file, required } = await find(id)
      return envSkeleton(file.display_name, required, file.credential_setup)
    },

    async refresh() {
      const [{ templates, failed }, ofGit] = await Promise.all([reload(), git.refresh()])
      return { refreshed: templates.length + ofGit.refreshed, failed: [...failed, ...ofGit.failed] }
    },

    async resolve(given, token) {
      const name = parseTemplateName(given)
      if (name === null) return { ...(await resolveLocal(given)), git: null }
      const { repository, branch, commit, content, ...template } = await git.resolve(name, await token())
      return { ...template, repository, git: { repository, branch, commit, leftOut: content.leftOut } }
    },

    madeFrom,

    async fileOf(agent) {
      const made = await madeFrom(agent)
      if (!made) return null
      try {
        return readTemplate(await readFile(join(made.folder, 'template.yaml'), 'utf8'))
      } catch (error) {
        if (isFault(error, 'template_unresolvable')) return null
        throw error
      }
    },
  }
}
