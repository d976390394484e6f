import { createHash } from 'node:crypto'
import {
  type LeftOutServer,
  mcpServerFault,
  mcpServersOf,
  ownServer,
} from '@roost/contracts/link/credentials'

export type RenderInput = {
  /** Text of `.mcp.json.template`; null without one. */
  template: string | null
  /** Text of `.mcp.json` as it is; null without one. */
  present: string | null
  /** Digests of the entries that were rendered before, by server: those are not taken for a person's own. */
  rendered: Readonly<Record<string, string>>
  values: Readonly<Record<string, string>>
  /** Null: the platform offers no tools. */
  own: { url: string; key: string } | null
}
export type Rendered = { text: string; rendered: Record<string, string>; leftOut: LeftOutServer[] }

/**
 * `.mcp.json` from its template and the credentials that are there now. What somebody wrote into it stays; what
 * was rendered before is rendered again, or goes when a value is missing; the platform's entry is its own.
 */
export function renderMcp({ template, present, rendered, values, own }: RenderInput): Rendered {
  const servers: Record<string, unknown> = Object.create(null)
  for (const [name, server] of Object.entries(mcpServersOf(present ?? '') ?? {})) {
    if (name !== ownServer && rendered[name] !== digestOf(server)) servers[name] = server
  }
  const leftOut: LeftOutServer[] = []
  const fresh: Record<string, string> = Object.create(null)
  const wanted = template === null ? {} : mcpServersOf(template)
  if (wanted === null) leftOut.push({ server: '*', names: [], reason: 'the template is not valid JSON' })
  for (const [name, server] of Object.entries(wanted ?? {})) {
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

function ownEntry({ url, key }: { url: string; key: string }) {
  return { type: 'http', url, headers: { Authorization: `Bearer ${key}` } }
}

type Filled = { server: unknown } | { names: string[]; reason: string }

function fill(server: unknown, values: Readonly<Record<string, string>>): Filled {
  const fault = mcpServerFault(server, true)
  if (fault) return { names: [], reason: fault }
  const missing = new Set<string>()
  const text = (given: string) =>
    given.replace(placeholder, (_, name: string, fallback: string | undefined) => {
      const value = Object.hasOwn(values, name) && values[name] !== '' ? values[name] : fallback
      if (value === undefined) missing.add(name)
      return value ?? ''
    })
  const texts = (given: unknown) =>
    // The shape was looked at above.
    Object.fromEntries(
      Object.entries(given as Record<string, string>).map(([key, each]) => [key, text(each)]),
    )
  const filled = { ...(server as Record<string, unknown>) }
  for (const key of ['env', 'headers']) if (filled[key] !== undefined) filled[key] = texts(filled[key])
  if (typeof filled.url === 'string') filled.url = text(filled.url)
  if (missing.size > 0) return { names: [...missing], reason: 'a variable has no value' }
  // A value may have made an address of something else.
  const result = mcpServerFault(filled)
  return result ? { names: [], reason: result } : { server: filled }
}

/** `${NAME}` and `${NAME:-default}`. */
const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

function digestOf(server: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(server) ?? '')
    .digest('hex')
}
