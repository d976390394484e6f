import { ApiError } from '@roost/contracts/client'
import type { Call, Tool } from './tool.ts'

/** A refusal by a tool itself; `fields` are added to the result. */
export class Refusal extends Error {
  readonly code: string
  readonly fields: Record<string, unknown>
  constructor(code: string, message: string, fields: Record<string, unknown> = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.fields = fields
  }
}

/** Returns the result for a refused call. Null for an internal error, whose text must stay private. */
export function refusalOf(
  error: unknown,
  tool: Pick<Tool, 'hides' | 'target'>,
  key: Call['key'],
  input: Record<string, unknown>,
): Record<string, unknown> | null {
  if (error instanceof Refusal) return { error: error.code, message: error.message, ...error.fields }
  if (!(error instanceof ApiError) || error.body === null) return null
  const { detail: _, error: code, ...fields } = error.body
  if (tool.hides && (error.status === 403 || error.status === 404)) {
    return {
      error: 'not found or not accessible',
      message: 'There is no such thing that this key can reach.',
    }
  }
  const target = tool.target(input, key)
  const isAgent = key.scope === 'agent'
  // An agent must not learn which other agents exist.
  const isDenied = error.status === 403 || (isAgent && code === 'agent_not_found')
  if (isDenied) return { ...denied({ reason: error.message, code, key, target }) }
  return { error: code, message: error.message, ...fields }
}

function denied({
  reason,
  code,
  key,
  target,
}: {
  reason: string
  code: string
  key: Call['key']
  target: unknown
}) {
  return {
    error: 'Access denied',
    reason: code,
    message: reason,
    caller: key.agent_name ?? key.key_name,
    ...(typeof target === 'string' ? { target } : {}),
    ...(key.scope === 'agent' && (code === 'agent_not_permitted' || code === 'agent_not_found')
      ? { hint: 'list_agents shows the agents that you may call; the owner of your agent can permit more.' }
      : {}),
  }
}
