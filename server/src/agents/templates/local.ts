import { access, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isAgentName } from '@roost/contracts/agents/agent'
import { Fault } from '../../kit/fault.ts'
import { type DescribedTemplate, describeTemplate } from './described.ts'
import { maxTemplateBytes } from './parse.ts'

export type LocalTemplate = DescribedTemplate & {
  /** Absolute path. */
  folder: string
}

export type LocalTemplates = { templates: LocalTemplate[]; failed: { id: string; error: string }[] }

/** All templates of a folder that contains one folder per template, sorted by name. */
export async function readLocalTemplates(folder: string): Promise<LocalTemplates> {
  const result: LocalTemplates = { templates: [], failed: [] }
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name)
    if (!isAgentName(name) || !(await isReadable(join(path, 'template.yaml')))) continue
    try {
      result.templates.push(await readLocal(name, path))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      result.failed.push({ id: `local:${name}`, error: error.message })
    }
  }
  return result
}

async function readLocal(name: string, folder: string): Promise<LocalTemplate> {
  const { size } = await stat(join(folder, 'template.yaml'))
  if (size > maxTemplateBytes)
    throw new Fault('template_unresolvable', 'template.yaml is larger than 256 KiB.')
  const described = describeTemplate(
    { id: `local:${name}`, name, repository: null },
    {
      template: await readFile(join(folder, 'template.yaml'), 'utf8'),
      mcpTemplate: await readIfPresent(join(folder, '.mcp.json.template')),
      envExample: await readIfPresent(join(folder, '.env.example')),
    },
  )
  return { ...described, folder }
}

async function isReadable(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function readIfPresent(path: string): Promise<string | null> {
  return (await isReadable(path)) ? readFile(path, 'utf8') : null
}
