/** Existing ids and names, taken from replies, for paths, queries and bodies. */
import type { Json, Operation } from '../document.ts'
import type { Random } from './random.ts'

export type Things = {
  /** Stores the ids and names in the reply of a successful call. */
  learn(path: string, params: Record<string, string>, reply: unknown): void
  /** A value seen in a field of this name. */
  known(field: string): string | undefined
  /** Returns path parameters that name an existing resource where one is known. */
  paramsFor(operation: Pick<Operation, 'id' | 'path'>): Record<string, string>
  /** Keys that replies contained. */
  keys(): readonly string[]
}

/** Fields that name an agent. */
const agentFields = ['agent_name', 'agent', 'source_agent', 'target', 'target_agent', 'subscriber']
const mostValues = 12

/** `agentFor`: an agent for this operation; null: for a field of a query or a body. */
export function createThings(random: Random, agentFor: (operationId: string | null) => string): Things {
  /** Things of a collection, by its path: its parameters and the id. */
  const members = new Map<string, { params: Record<string, string>; id: string }[]>()
  const values = new Map<string, string[]>()
  const keys: string[] = []

  function note(field: string, value: string): void {
    if (value.startsWith('svc_mcp_') && !keys.includes(value)) keys.push(value)
    const seen = values.get(field) ?? []
    if (value === '' || value.length > 200 || seen.includes(value)) return
    values.set(field, [...seen, value].slice(-mostValues))
  }

  function learnDeep(value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > 4) return
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner === 'string') note(field, inner)
      // The last part of such an address is its credential.
      if (typeof inner === 'string' && field.endsWith('url')) note('token', inner.split('/').at(-1) ?? '')
      else learnDeep(inner, depth + 1)
    }
  }

  const known = (field: string): string | undefined => {
    if (agentFields.includes(field)) return agentFor(null)
    const seen = values.get(field)
    return seen && random.pick(seen)
  }

  return {
    learn(path, params, reply) {
      learnDeep(reply, 0)
      const lists = [[reply], reply, ...Object.values((reply ?? {}) as Json)].filter(Array.isArray)
      for (const item of lists.flat().slice(0, 50)) {
        const { id } = (item ?? {}) as { id?: unknown }
        if (typeof id !== 'string') continue
        const all = (members.get(path) ?? []).filter((each) => each.id !== id)
        members.set(path, [...all, { params, id }].slice(-mostValues))
      }
    },
    known,
    paramsFor({ id, path }) {
      const made: Record<string, string> = {}
      for (const [before, field = ''] of pieces(path)) {
        const member = members.get(before)
        if (field === 'name') made.name = agentFor(id)
        else if (member && member.length > 0) {
          const one = random.pick(member)
          Object.assign(made, one.params, { [field]: one.id })
        } else made[field] = known(field) ?? 'unknown'
      }
      return made
    },
    keys: () => keys,
  }
}

/** Each parameter of a path, with the path before it. */
function pieces(path: string): [before: string, field: string][] {
  return [...path.matchAll(/\/\{([^}]+)\}/g)].map((match) => [path.slice(0, match.index), match[1] ?? ''])
}
