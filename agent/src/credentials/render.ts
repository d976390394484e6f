import { createHash } from 'node:crypto'
import {
  type LeftOutServer,
  mcpServerFault,
  mcpServersOf,
  ownServer,
} from '@roost/contracts/link/credentials'

export type RenderInput = {
  /** Text of `.mcp.json.template`; null when the file is missing. */
  template: string | null
  /** Current text of `.mcp.json`; null when the file is missing. */
  present: string | null
  /** Digests of the entries rendered earlier, by server name. Other entries belong to a person. */
  rendered: Readonly<Record<string, string>>
  values: Readonly<Record<string, string>>
  /** Null when the platform offers no tools. */
  own: { url: string } | null
}
export type Rendered = { text: string; rendered: Record<string, string>; leftOut: LeftOutServer[] }

/**
 * Builds `.mcp.json` from its template and the present credentials. Keeps entries that a person wrote.
 * Renders its own earlier entries again and removes those with a missing value. Always replaces the
 * platform's entry.
 */
export function renderMcp({ template, present, rendered, values, own }: RenderInput): Rendered {
  const servers: Record<string, unknown> = Object.create(null)
  for (const [name, server] of Object.entries(mcpServersOf(present ?? '') ?? {})) {
    if (name !== ownServer && rendered[name] !== digestOf(server)) servers[name] = server
  }
  const leftOut: LeftOutServer[] = []
  const fresh: Record<string, string> = Object.create(null)
  const templateServers = template === null ? {} : mcpServersOf(template)
  if (templateServers === null)
    leftOut.push({ server: '*', names: [], reason: 'the template is not valid JSON' })
  for (const [name, server] of Object.entries(templateServers ?? {})) {
    if (name === ownServer || name in servers) continue
    const filled = fill(server, values)
    if ('reason' in filled) {
      leftOut.push({ server: name.slice(0, 200), ...filled })
      continue
    }
    servers[name] = filled.server
    fresh[name] = digestOf(filled.server)
  }
  const all = own ? { ...servers, [ownServer]: ownEntry(own) } : { ...servers }
  return { text: `${JSON.stringify({ mcpServers: all }, null, 2)}\n`, rendered: { ...fresh }, leftOut }
}

/**
 * Names the variable that each turn gets its key in. The file outlives turns, so it holds no key. The empty default
 * is for terminals: a CLI refuses the whole file when a variable is missing.
 */
function ownEntry({ url }: { url: string }) {
  return { type: 'http', url, headers: { Authorization: `Bearer \${ROOST_MCP_KEY:-}` } }
}

type Filled = { server: unknown } | { names: string[]; reason: string }

function fill(server: unknown, values: Readonly<Record<string, string>>): Filled {
  const fault = mcpServerFault(server, true)
  if (fault) return { names: [], reason: fault }
  const missing = new Set<string>()
  const text = (template: string) =>
    template.replace(placeholder, (_, name: string, fallback: string | undefined) => {
      const value = Object.hasOwn(values, name) && values[name] !== '' ? values[name] : fallback
      if (value === undefined) missing.add(name)
      return value ?? ''
    })
  const texts = (entries: unknown) =>
    // `mcpServerFault` has checked the shape above.
    Object.fromEntries(
      Object.entries(entries as Record<string, string>).map(([key, each]) => [key, text(each)]),
    )
  const filled = { ...(server as Record<string, unknown>) }
  for (const key of ['env', 'headers']) if (filled[key] !== undefined) filled[key] = texts(filled[key])
  if (typeof filled.url === 'string') filled.url = text(filled.url)
  if (missing.size > 0) return { names: [...missing], reason: 'a variable has no value' }
  // A substituted value may have made an address invalid.
  const result = mcpServerFault(filled)
  return result ? { names: [], reason: result } : { server: filled }
}

/** Matches `${NAME}` and `${NAME:-default}`. */
const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

function digestOf(server: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(server) ?? '')
    .digest('hex')
}
