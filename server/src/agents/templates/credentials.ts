import type { TemplateFile } from '@roost/contracts/agents/templates'
import { injectedVariables, namesVariable } from '@roost/contracts/link/credentials'

export type RequiredCredential = { name: string; source: string }

const variable = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Variables that must be filled in before the agent can work: names from `credentials`, `${NAME}` in
 * `.mcp.json.template` and names in `.env.example`, except those the platform injects. A reference with a
 * default (`${NAME:-x}`) is not required.
 */
export function requiredCredentials(
  credentials: TemplateFile['credentials'],
  files: { mcpTemplate: string | null; envExample: string | null },
): RequiredCredential[] {
  const sources = new Map<string, string>()
  const add = (name: string, source: string) => {
    if (!variable.test(name) || namesVariable(injectedVariables, name) || sources.has(name)) return
    sources.set(name, source)
  }
  for (const [server, { env_vars }] of Object.entries(credentials.mcp_servers)) {
    for (const name of env_vars) add(name, `mcp:${server}`)
  }
  for (const name of credentials.env_file) add(name, 'env_file')
  for (const [, name] of (files.mcpTemplate ?? '').matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)) {
    if (name) add(name, 'mcp_json_template')
  }
  for (const [, name] of (files.envExample ?? '').matchAll(
    /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=/gm,
  )) {
    if (name) add(name, 'env_example')
  }
  return [...sources].map(([name, source]) => ({ name, source }))
}

/** A `.env` skeleton: one line per required name, with the template's description. */
export function envSkeleton(displayName: string, required: RequiredCredential[], setup: SetupItem[]): string {
  const lines = [`# ${oneLine(displayName)}`]
  if (required.length === 0) lines.push('# This template needs no credentials.')
  for (const { name, source } of required) {
    const item = setup.find((candidate) => candidate.name === name)
    lines.push('', `# ${oneLine(textOf(item?.title) ?? name)} (${source})`)
    const description = textOf(item?.description)
    if (description) lines.push(`# ${oneLine(description)}`)
    lines.push(`${name}=${oneLine(textOf(item?.default) ?? '')}`)
  }
  return `${lines.join('\n')}\n`
}

type SetupItem = { name: string; [key: string]: unknown }

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

/** Template text must not start a new line in a file that is parsed line by line. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
