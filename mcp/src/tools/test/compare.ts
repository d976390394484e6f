import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'
import { bodyOf, pathOf, queryOf, type RequestForm } from '../../requests.ts'
import type { Tool } from '../../tool.ts'

export type Compared = Pick<Tool, 'name' | 'input' | 'requests' | 'own'>

/** A field of a request: `{name}` is in the path. */
export type Field = { field: string; place: 'path' | 'query' | 'body'; schema: z.ZodType }

/** Returns every field of the endpoint as a parameter. A field in both query and body is sent in the body. */
export function fieldsOf(endpoint: Endpoint): Field[] {
  const { params, query, body } = endpoint as Record<'params' | 'query' | 'body', z.ZodType | undefined>
  for (const schema of [params, query, body]) {
    if (schema && !(schema instanceof z.ZodObject)) throw new Error(`${endpoint.id}: not an object of fields`)
  }
  const inPath = Object.entries(pathOf(endpoint as never) as Shape)
  const inBody = Object.entries(bodyOf(endpoint as never) as Shape)
  const inQuery = Object.entries(queryOf(endpoint as never) as Shape)
  const bodyNames = new Set(inBody.map(([name]) => name))
  return [
    ...inPath.map(([name, schema]): Field => ({ field: `{${name}}`, place: 'path', schema })),
    ...inQuery
      .filter(([name]) => !bodyNames.has(name))
      .map(([name, schema]): Field => ({ field: name, place: 'query', schema })),
    ...inBody.map(([name, schema]): Field => ({ field: name, place: 'body', schema })),
  ]
}

type Shape = Record<string, z.ZodType>

/** Returns the name of the parameter for a field, which the tool may lack. */
export function parameterOf(form: RequestForm, field: string): string {
  return form.as[field] ?? field.replace(/^\{(.*)\}$/, '$1')
}

/** Returns undeclared differences between a tool and its endpoints, and declared ones that do not exist. */
export function differences(tool: Compared): string[] {
  const shape = tool.input.shape as Shape
  const carried = new Set<string>()
  const ofRequests = tool.requests.flatMap((form) => {
    const at = `${tool.name} → ${form.endpoint.id}`
    const fields = fieldsOf(form.endpoint)
    const known = new Set(fields.map(({ field }) => field))
    const named = [...Object.keys(form.as), ...Object.keys(form.leftOut), ...Object.keys(form.differs)]
    return [
      ...named.filter((field) => !known.has(field)).map((field) => `${at}: there is no field ${field}`),
      ...fields.flatMap(({ field, schema }) => {
        const parameter = parameterOf(form, field)
        const offered = shape[parameter]
        const reason = form.leftOut[field]
        if (reason !== undefined) {
          if (reason === '') return [`${at}: ${field} is left out without a reason`]
          // A field of another request of the tool may carry the same name.
          return []
        }
        if (!offered) return [`${at}: ${field} has no parameter and no reason`]
        carried.add(parameter)
        const difference = differenceOf(schema, offered)
        const excuse = form.differs[field]
        if (difference === null) return excuse === undefined ? [] : [`${at}: ${field} does not differ`]
        return excuse ? [] : [`${at}: ${field} ${difference}`]
      }),
    ]
  })
  const own = Object.entries(tool.own)
  return [
    ...ofRequests,
    ...Object.keys(shape)
      .filter((name) => !carried.has(name) && !Object.hasOwn(tool.own, name))
      .map((name) => `${tool.name}: ${name} is not a field of an endpoint and has no reason`),
    ...own
      .filter(([name, reason]) => !Object.hasOwn(shape, name) || carried.has(name) || reason === '')
      .map(([name]) => `${tool.name}: ${name} needs no reason, or its reason is empty`),
  ]
}

/** Returns null if parameter and field accept the same values. */
function differenceOf(field: z.ZodType, parameter: z.ZodType): string | null {
  const [expected, actual] = [rules(field), rules(parameter)].map((schema) => JSON.stringify(schema))
  if (expected !== actual) return `takes ${expected} and the parameter ${actual}`
  const [isOptional, maySkip] = [field, parameter].map((schema) => schema.safeParse(undefined).success)
  if (isOptional === maySkip) return null
  return isOptional ? 'is optional and the parameter is required' : 'is required and the parameter optional'
}

/** Returns the JSON Schema without descriptions and defaults, in a fixed order. */
function rules(schema: z.ZodType): unknown {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' })
  return sorted(json)
}

const notRules = new Set([
  '$schema',
  'title',
  'description',
  'default',
  'id',
  'examples',
  'additionalProperties',
])

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const { properties, ...rest } = value as Record<string, unknown>
  const entries = Object.entries(rest)
    .filter(
      ([key, item]) => !notRules.has(key) || (key === 'additionalProperties' && typeof item === 'object'),
    )
    .map(([key, item]): [string, unknown] => [key, sorted(item)])
  const names = Object.entries((properties ?? {}) as object).map(([name, item]) => [name, sorted(item)])
  if (properties !== undefined) entries.push(['properties', Object.fromEntries(names.toSorted(byName))])
  return Object.fromEntries(entries.toSorted(byName))
}

function byName([a]: unknown[], [b]: unknown[]): number {
  return String(a) < String(b) ? -1 : 1
}
