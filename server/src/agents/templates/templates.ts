import { access, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isAgentName } from '@roost/contracts/agents/agent'
import type { ScheduleError } from '@roost/contracts/agents/registry'
import type { TemplateDetails, TemplateEntry, TemplateFile } from '@roost/contracts/agents/templates'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { envSkeleton, type RequiredCredential, requiredCredentials } from './credentials.ts'
import { maxTemplateBytes, parseTemplate } from './parse.ts'
import { type ParsedSchedules, parseTemplateSchedules } from './schedules.ts'

/** A template that an agent can be made from now. */
export type ResolvedTemplate = {
  id: string
  name: string
  /** Absolute folder of a local template, mounted read-only at /template. */
  folder: string
  file: TemplateFile
  schedules: ParsedSchedules['schedules']
  scheduleErrors: ScheduleError[]
  required: RequiredCredential[]
}

export type Templates = {
  /** Without hidden ones, by name. */
  list(): Promise<TemplateEntry[]>
  /** Throws `template_not_found`, `template_unresolvable`. */
  get(id: string): Promise<TemplateDetails>
  env(id: string): Promise<string>
  refresh(): Promise<{ refreshed: number; failed: { id: string; error: string }[] }>
  /**
   * What a create request names: `local:<name>`, `<name>`, `github:owner/repo[@branch]`. Throws
   * `template_unresolvable`, and `not_configured` for a git repository.
   */
  resolve(given: string): Promise<ResolvedTemplate>
}

export type TemplatesDeps = {
  /** One folder for each bundled template. */
  folder: string
  /** `owner/repo`, from the admin's list. */
  gitRepositories(): Promise<readonly string[]>
  clock: Pick<Clock, 'now'>
}

type Cached = { at: number; local: ResolvedTemplate[]; failed: { id: string; error: string }[] }

const cacheMs = 10 * 60_000
const gitForm = /^github:([A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9._-]+)(@[A-Za-z0-9._/-]+)?$/

export function createTemplates({ folder, gitRepositories, clock }: TemplatesDeps): Templates {
  let cached: Promise<Cached> | null = null

  async function current(): Promise<Cached> {
    const held = await cached?.catch(() => null)
    if (held && clock.now().getTime() - held.at < cacheMs) return held
    return reload()
  }

  function reload(): Promise<Cached> {
    const reading = readAll(folder, clock.now().getTime())
    cached = reading
    return reading
  }

  async function find(id: string): Promise<ResolvedTemplate> {
    const { local, failed } = await current()
    const found = local.find((template) => template.id === id)
    if (found) return found
    const broken = failed.find((failure) => failure.id === id)
    if (broken) throw new Fault('template_unresolvable', broken.error)
    throw new Fault('template_not_found', `There is no template "${id.slice(0, 100)}".`)
  }

  return {
    async list() {
      const { local } = await current()
      const shown = local.filter((template) => !template.file.hidden).map(entryOf)
      const git = (await gitRepositories()).map(gitEntry)
      return [...shown, ...git]
    },

    async get(id) {
      const template = await find(id)
      const { file } = template
      const { runtime, resources: _, schedules: __, mcp_servers: ___, ...rest } = file
      return { ...rest, ...entryOf(template), model: runtime.model, schedules: template.schedules }
    },

    async env(id) {
      const { file, required } = await find(id)
      return envSkeleton(file.display_name, required, file.credential_setup)
    },

    async refresh() {
      const { local, failed } = await reload()
      return { refreshed: local.length, failed }
    },

    async resolve(given) {
      if (gitForm.test(given)) {
        throw new Fault('not_configured', `Templates from a git repository ("${given}") need a git host.`)
      }
      const name = given.startsWith('local:') ? given.slice('local:'.length) : given
      try {
        if (!isAgentName(name)) throw new Fault('template_not_found')
        return await find(`local:${name}`)
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'template_not_found') throw error
        throw new Fault('template_unresolvable', `There is no template "${given.slice(0, 100)}".`)
      }
    },
  }
}

async function readAll(folder: string, at: number): Promise<Cached> {
  const local: ResolvedTemplate[] = []
  const failed: Cached['failed'] = []
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name)
    if (!isAgentName(name) || !(await isReadable(join(path, 'template.yaml')))) continue
    try {
      local.push(await readLocal(name, path))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      failed.push({ id: `local:${name}`, error: error.message })
    }
  }
  return { at, local, failed }
}

async function readLocal(name: string, path: string): Promise<ResolvedTemplate> {
  const { size } = await stat(join(path, 'template.yaml'))
  if (size > maxTemplateBytes)
    throw new Fault('template_unresolvable', 'template.yaml is larger than 256 KiB.')
  const file = parseTemplate(await readFile(join(path, 'template.yaml'), 'utf8'))
  const { schedules, errors } = parseTemplateSchedules(file.schedules)
  const required = requiredCredentials(file.credentials, {
    mcpTemplate: await readIfThere(join(path, '.mcp.json.template')),
    envExample: await readIfThere(join(path, '.env.example')),
  })
  return { id: `local:${name}`, name, folder: path, file, schedules, scheduleErrors: errors, required }
}

async function isReadable(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function readIfThere(path: string): Promise<string | null> {
  return (await isReadable(path)) ? readFile(path, 'utf8') : null
}

function entryOf({ id, name, file, schedules, required }: ResolvedTemplate): TemplateEntry {
  return {
    id,
    name,
    display_name: file.display_name,
    description: file.description,
    source: 'local',
    github_repo: null,
    resources: file.resources,
    runtime: file.runtime.type,
    mcp_servers: [...new Set([...Object.keys(file.credentials.mcp_servers), ...file.mcp_servers])],
    required_credentials: required,
    schedules_count: schedules.length,
    metadata_unavailable: false,
  }
}

/** A repository is offered by its address alone until its metadata can be read. */
function gitEntry(repository: string): TemplateEntry {
  return {
    id: `github:${repository}`,
    name: repository.split('/')[1] ?? repository,
    display_name: repository,
    description: '',
    source: 'git',
    github_repo: repository,
    resources: { cpu: null, memory: null },
    runtime: 'claude-code',
    mcp_servers: [],
    required_credentials: [],
    schedules_count: 0,
    metadata_unavailable: true,
  }
}
