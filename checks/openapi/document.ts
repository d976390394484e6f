/** The OpenAPI document and its operations, as the checks read them. */
import { endpoints } from '@roost/contracts'
import { openApiDocument } from '@roost/contracts/openapi'

export type Json = Record<string, unknown>
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Json }
export type Media = { schema?: Json }
export type Reply = {
  description: string
  headers?: Record<string, unknown>
  content?: Record<string, Media>
}
export type Operation = {
  id: string
  method: string
  path: string
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  /** With `$ref` replaced by the component. */
  responses: Record<string, Reply>
  security: unknown[]
}

export const version = '0.0.0'

/** Returns the document of the whole API, with the internal listener. */
export function wholeDocument(): Json {
  return JSON.parse(JSON.stringify(openApiDocument(endpoints, version)))
}

/** Returns the target of a `$ref`, or undefined when there is none. */
export function resolve(document: Json, ref: string): Json | undefined {
  if (!ref.startsWith('#/')) return undefined
  let found: unknown = document
  for (const step of ref.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = typeof found === 'object' && found !== null ? (found as Json)[key] : undefined
  }
  return typeof found === 'object' && found !== null ? (found as Json) : undefined
}

/** Returns every operation with shared parameters and replies in place; schemas keep their references. */
export function operationsOf(document: Json): Operation[] {
  const inPlace = <T>(value: T): T => {
    const ref = (value as { $ref?: string }).$ref
    return ref === undefined ? value : (resolve(document, ref) as T)
  }
  const paths = document.paths as Record<string, Record<string, Json>>
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const { operationId, parameters = [], responses, requestBody, security } = operation as RawOperation
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        parameters: parameters.map(inPlace),
        ...(requestBody ? { requestBody } : {}),
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, reply]) => [status, inPlace(reply)]),
        ),
        security,
      }
    }),
  )
}

type RawOperation = {
  operationId: string
  parameters?: Parameter[]
  responses: Record<string, Reply>
  requestBody?: NonNullable<Operation['requestBody']>
  security: unknown[]
}

/** Calls `visit` for every object in a value, with the way to it. */
export function walk(value: unknown, visit: (object: Json, way: string) => void, way = ''): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) visit(value as Json, way)
  for (const [key, item] of Object.entries(value)) walk(item, visit, `${way}/${key}`)
}
