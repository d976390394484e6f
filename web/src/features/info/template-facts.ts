import type { TemplateWarning } from '@roost/contracts/agents/templates'

/** The metadata of a template. Untrusted input: every field may be missing or of another type. */
export type TemplateFacts = {
  title: string | null
  tagline: string | null
  description: string | null
  version: string | null
  author: string | null
  updated: string | null
  /** Lists of short texts by heading, in display order, without empty ones. */
  lists: { heading: string; items: string[] }[]
  /** Declared credentials with their source. */
  credentials: { name: string; source: string }[]
  /** Ignored parts of the file. */
  warnings: TemplateWarning[]
}

export function templateFacts(info: Readonly<Record<string, unknown>>): TemplateFacts {
  const lists = headings.map(([field, heading]) => ({ heading, items: textsOf(info[field]) }))
  return {
    title: textOf(info.display_name) ?? textOf(info.name),
    tagline: textOf(info.tagline),
    description: textOf(info.description),
    version: textOf(info.version),
    author: textOf(info.author),
    updated: textOf(info.updated),
    lists: lists.filter(({ items }) => items.length > 0),
    credentials: credentialsOf(info.credentials),
    warnings: warningsOf(info.template_warnings),
  }
}

const headings = [
  ['use_cases', 'Use cases'],
  ['capabilities', 'Capabilities'],
  ['skills', 'Skills'],
  ['sub_agents', 'Sub-agents'],
  ['commands', 'Commands'],
  ['slash_commands', 'Slash commands'],
  ['mcp_servers', 'MCP servers'],
  ['platforms', 'Platforms'],
  ['tags', 'Tags'],
] as const

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

/** Texts, or the names of objects. */
function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item) => textOf(isObject(item) ? item.name : item) ?? [])
}

function credentialsOf(value: unknown): TemplateFacts['credentials'] {
  if (!isObject(value)) return []
  const servers = isObject(value.mcp_servers) ? Object.entries(value.mcp_servers) : []
  return [
    ...servers.flatMap(([server, wants]) =>
      textsOf(isObject(wants) ? wants.env_vars : null).map((name) => ({ name, source: server })),
    ),
    ...textsOf(value.env_file).map((name) => ({ name, source: '.env' })),
    ...textsOf(value.config_files).map((name) => ({ name, source: 'file' })),
  ]
}

function warningsOf(value: unknown): TemplateFacts['warnings'] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item) => {
    if (!isObject(item)) return []
    const [path, message] = [textOf(item.path), textOf(item.message)]
    return path !== null && message !== null ? [{ path, message }] : []
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
