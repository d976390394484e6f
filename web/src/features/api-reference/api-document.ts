/** The parts of the OpenAPI document that the page displays, read from `/openapi.json`. */
import { plural } from '../../lib/format.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  default?: unknown
  examples?: unknown[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
}

export type Parameter = {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

type Content = Record<string, { schema?: Schema }>
type Body = { required?: boolean; content: Content }
type Response = { $ref?: string; description?: string; content?: Content }
type RawOperation = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: Body
  responses: Record<string, Response>
}

export type ApiDocument = {
  info: { title: string; version: string; description: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, RawOperation>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Response>
  }
}

export type Reply = { status: string; description: string; mediaType: string | null; schema: Schema | null }

export type Operation = {
  id: string
  /** In capitals. */
  method: string
  /** With `{name}` for parameters. */
  path: string
  tag: string
  summary: string
  /** Markdown. */
  description: string
  /** True if the call needs a bearer token. */
  needsToken: boolean
  parameters: Parameter[]
  body: { isRequired: boolean; mediaType: string; schema: Schema } | null
  replies: Reply[]
}

/** Returns all operations in the order of the document. */
export function operationsOf(document: ApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => operationOf(document, path, method.toUpperCase(), raw)),
  )
}

function operationOf(document: ApiDocument, path: string, method: string, raw: RawOperation): Operation {
  const { parameters, responses } = document.components
  return {
    id: raw.operationId,
    method,
    path,
    tag: raw.tags[0] ?? '',
    summary: raw.summary,
    description: raw.description ?? '',
    needsToken: (raw.security ?? []).length > 0,
    parameters: (raw.parameters ?? []).map((one) => (one.$ref ? named(parameters, one.$ref, one) : one)),
    body: bodyOf(raw.requestBody),
    replies: Object.entries(raw.responses).map(([status, one]) =>
      replyOf(status, one.$ref ? named(responses, one.$ref, one) : one),
    ),
  }
}

function bodyOf(body: Body | undefined): Operation['body'] {
  const [media] = Object.entries(body?.content ?? {})
  if (!body || !media) return null
  const [mediaType, { schema = {} }] = media
  return { isRequired: body.required ?? false, mediaType, schema }
}

function replyOf(status: string, { description = '', content = {} }: Response): Reply {
  const [media] = Object.entries(content)
  return { status, description, mediaType: media?.[0] ?? null, schema: media?.[1].schema ?? null }
}

function named<T>(components: Record<string, T>, ref: string, fallback: T): T {
  return components[refName(ref)] ?? fallback
}

/** Returns the last part of a reference such as `#/components/schemas/Agent`. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

export function resolved(document: ApiDocument, schema: Schema): Schema {
  return schema.$ref ? named(document.components.schemas, schema.$ref, schema) : schema
}

/** Returns a short name of a type, such as `string`, `Agent[]` or `"a" | "b"`. */
export function typeName(schema: Schema): string {
  if (schema.$ref) return refName(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map(typeName))].join(' | ')
  if (schema.allOf) return schema.allOf.map(typeName).join(' & ')
  if (schema.type === 'array') {
    const item = typeName(schema.items ?? {})
    return item.includes(' ') ? `(${item})[]` : `${item}[]`
  }
  if (Array.isArray(schema.type)) return schema.type.join(' | ')
  return schema.format ? `${schema.type ?? 'any'} (${schema.format})` : (schema.type ?? 'any')
}

/** Returns the limits of a value as one phrase; empty without limits. */
export function limitsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  return [
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
    range(minimum, maximum, ''),
    range(minLength, maxLength, 'character'),
    range(minItems, maxItems, 'item'),
    pattern === undefined ? '' : `pattern ${pattern}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const named = (count: number | undefined) => (unit === '' ? `${count}` : plural(count ?? 0, unit))
  if (least === undefined && most === undefined) return ''
  if (least === undefined) return `at most ${named(most)}`
  // The largest safe integer is no limit that a reader needs.
  if (most === undefined || most >= Number.MAX_SAFE_INTEGER) return `at least ${named(least)}`
  return least === most ? named(least) : `${least} to ${named(most)}`
}

/** Levels of nested objects in an example. */
const maxDepth = 4

/** Returns a value that fits the schema, with the required fields only. */
export function exampleOf(document: ApiDocument, schema: Schema, depth = 0): unknown {
  const shape = resolved(document, schema)
  if (shape.examples?.length) return shape.examples[0]
  if (shape.default !== undefined) return shape.default
  if (shape.const !== undefined) return shape.const
  if (shape.enum?.length) return shape.enum[0]
  const [choice] = shape.anyOf ?? shape.oneOf ?? []
  if (choice) return exampleOf(document, choice, depth)
  // Beside a type, the parts are only limits.
  if (shape.allOf && !shape.type)
    return Object.assign({}, ...shape.allOf.map((part) => exampleOf(document, part, depth)))
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type
  if (type === 'array')
    return (shape.minItems ?? 0) > 0 && depth < maxDepth
      ? [exampleOf(document, shape.items ?? {}, depth + 1)]
      : []
  if (type === 'object' || shape.properties) {
    if (depth >= maxDepth) return {}
    const fields = Object.entries(shape.properties ?? {}).filter(([name]) => shape.required?.includes(name))
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(document, field, depth + 1)]))
  }
  if (type === 'integer' || type === 'number') return Math.max(shape.minimum ?? 1, 0)
  if (type === 'boolean') return true
  return type === 'string' ? textExample(shape) : null
}

function textExample({ format, minLength = 0 }: Schema): string {
  if (format === 'email') return 'name@example.com'
  if (format === 'uri') return 'https://example.com'
  if (format === 'date-time') return '2026-01-31T12:00:00Z'
  return 'string'.padEnd(minLength, 'x')
}
