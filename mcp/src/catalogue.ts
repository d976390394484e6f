import type { KeyScope } from '@roost/contracts/kit/access'
import { z } from 'zod'
import type { Audience, Tool } from './tool.ts'

/** The scopes whose keys see a tool. For other keys the tool does not exist. */
const visibleTo: Record<Audience, readonly KeyScope[]> = {
  everyone: ['user', 'system', 'agent'],
  person: ['user', 'system'],
  agent: ['user', 'system', 'agent'],
  connector: ['user', 'system', 'agent', 'connector'],
}

export function isSeenBy(tool: Pick<Tool, 'audience'>, scope: KeyScope): boolean {
  return visibleTo[tool.audience].includes(scope)
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

/** Returns the entry of a tool in the list of tools. */
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
    // For Claude Code, which otherwise loads a tool only after a search for it.
    ...(tool.isCore ? { _meta: { 'anthropic/alwaysLoad': true } } : {}),
  }
}

/**
 * Returns the JSON Schema of inputs. Used for outputs too, because it allows fields that a newer platform adds.
 */
function schemaOf(type: z.ZodType, override: Override): { type: 'object'; [key: string]: unknown } {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any', override })
  return { ...schema, type: 'object' }
}

type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']

/** Patterns that some clients' validators cannot read: Unicode properties and look-arounds. */
const unportable = /\\p\{|\(\?[=!<]/i

/** Removes details that do not help a model and patterns that a client may reject. The server checks all of them. */
const tidy: Override = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod
  if (def.type === 'string' && 'format' in def && def.format === 'datetime') {
    jsonSchema.format = 'date-time'
  }
  if (jsonSchema.format !== undefined || unportable.test(jsonSchema.pattern ?? '')) delete jsonSchema.pattern
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

/** Forbids unknown keys in inputs, as the server does. */
const closed: Override = (context) => {
  tidy(context)
  const { jsonSchema } = context
  if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties ??= false
}
