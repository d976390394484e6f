import type { KeyScope } from '@roost/contracts/kit/access'
import { z } from 'zod'
import type { Audience, Tool } from './tool.ts'

/** Which tools a key sees, by its scope; the others do not exist for it. */
const seenBy: Record<Audience, readonly KeyScope[]> = {
  everyone: ['user', 'system', 'agent'],
  person: ['user', 'system'],
  agent: ['user', 'system', 'agent'],
  connector: ['user', 'system', 'agent', 'connector'],
}

export function isSeenBy(tool: Pick<Tool, 'audience'>, scope: KeyScope): boolean {
  return seenBy[tool.audience].includes(scope)
}

export type ListedTool = {
  name: string
  title: string
  description: string
  inputSchema: { type: 'object'; [key: string]: unknown }
  outputSchema?: { type: 'object'; [key: string]: unknown }
  annotations: {
    title: string
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
  _meta?: Record<string, unknown>
}

/** A tool as it is listed. */
export function listed(tool: Tool): ListedTool {
  const { name, title, description, effect } = tool
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(tool.input),
    ...(tool.output ? { outputSchema: schemaOf(tool.output) } : {}),
    annotations: {
      title,
      readOnlyHint: effect === 'read',
      destructiveHint: effect === 'destroy',
      idempotentHint: effect === 'read',
      openWorldHint: true,
    },
    // Read by Claude Code, which else finds a tool only after it has searched for it.
    ...(tool.isCore ? { _meta: { 'anthropic/alwaysLoad': true } } : {}),
  }
}

/**
 * The schema of what goes in. For outputs too: there it leaves fields that a newer platform adds alone, where
 * the schema of what comes out would forbid them.
 */
function schemaOf(type: z.ZodType): { type: 'object'; [key: string]: unknown } {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' })
  return { ...schema, type: 'object' }
}
