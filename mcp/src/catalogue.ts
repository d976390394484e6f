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
    inputSchema: schemaOf(tool.input, closed),
    ...(tool.output ? { outputSchema: schemaOf(tool.output, tidy) } : {}),
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
 * The schema of the input. It serves for outputs too: there it allows fields that a newer platform adds, which the
 * schema of the output would forbid.
 */
function schemaOf(type: z.ZodType, override: Override): { type: 'object'; [key: string]: unknown } {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any', override })
  return { ...schema, type: 'object' }
}

type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']

/** Patterns that not every validator of a client can read: Unicode properties and look-arounds. */
const unportable = /\\p\{|\(\?[=!<]/i

/** Leaves out what does not help a model, and patterns that its client may refuse. The server checks all of them. */
const tidy: Override = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod
  if (def.type === 'string' && 'format' in def && def.format === 'datetime') {
    jsonSchema.format = 'date-time'
  }
  if (jsonSchema.format !== undefined || unportable.test(jsonSchema.pattern ?? '')) delete jsonSchema.pattern
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

/** As the server reads parameters: keys without a name in the schema are refused. */
const closed: Override = (context) => {
  tidy(context)
  const { jsonSchema } = context
  if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties ??= false
}
