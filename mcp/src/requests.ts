import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'

/**
 * A request that a tool makes, and how its parameters map to the fields of the endpoint. Path parameters are in
 * braces. A test compares every tool with its endpoints.
 */
export type RequestForm = {
  endpoint: Endpoint
  /** The parameter that carries a field, where the names differ. */
  as: Readonly<Record<string, string>>
  /** Fields without a parameter, because the tool sets or omits them, with the reason. */
  leftOut: Readonly<Record<string, string>>
  /** Parameters whose type, bounds or optionality differ from their field, with the reason. */
  differs: Readonly<Record<string, string>>
  /** Arguments that lead to this request, where a tool chooses between several. */
  when: Readonly<Record<string, unknown>>
}

// A subset of Endpoint, whose full type is invariant in its schemas.
type AnyEndpoint = Pick<Endpoint, 'id' | 'method' | 'path'>

/** Declares a request. In paths below `/agents/`, `{name}` is the parameter `agent_name` unless `as` overrides it. */
export function request(
  endpoint: AnyEndpoint,
  { as = {}, leftOut = {}, differs = {}, when = {} }: Partial<Omit<RequestForm, 'endpoint'>> = {},
): RequestForm {
  const ofAgent: Record<string, string> = endpoint.path.includes('/agents/{name}')
    ? { '{name}': 'agent_name' }
    : {}
  return { endpoint: endpoint as Endpoint, as: { ...ofAgent, ...as }, leftOut, differs, when }
}

/** The fields of a request body as parameters. */
export function bodyOf<S extends z.ZodRawShape>(endpoint: { body?: z.ZodObject<S> }): Given<S> {
  return mapShape(endpoint.body, asGiven) as Given<S>
}

/** The parameters of a path. */
export function pathOf<S extends z.ZodRawShape>(endpoint: { params?: z.ZodObject<S> }): Given<S> {
  return mapShape(endpoint.params, asGiven) as Given<S>
}

/** The fields of a query as parameters: numbers and booleans instead of their text. */
export function queryOf<S extends z.ZodRawShape>(endpoint: { query?: z.ZodObject<S> }): Parsed<S> {
  return mapShape(endpoint.query, (field) => parsed(field) ?? asGiven(field)) as Parsed<S>
}

/** The same fields, with descriptions for a model instead of the endpoint's. */
export function described<S extends z.ZodRawShape>(shape: S, words: { [Name in keyof S]?: string }): S {
  const fields = Object.entries(shape).map(([name, field]) => {
    const description = words[name]
    return [name, description === undefined ? field : (field as z.ZodType).describe(description)]
  })
  return Object.fromEntries(fields) as S
}

export function without<S extends object, Name extends keyof S>(shape: S, ...names: Name[]): Omit<S, Name> {
  const entries = Object.entries(shape).filter(([name]) => !(names as PropertyKey[]).includes(name))
  return Object.fromEntries(entries) as Omit<S, Name>
}

/** The values of a query as the client sends them. */
export function asQuery<V extends object>(values: V): { [Name in keyof V]: AsText<V[Name]> } {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
  ])
  return Object.fromEntries(entries) as { [Name in keyof V]: AsText<V[Name]> }
}

type AsText<Value> = Value extends number | boolean ? string : Value

/** The input type of a field; optional if the input is optional. */
type GivenField<F extends z.ZodType> =
  undefined extends z.input<F>
    ? z.ZodOptional<z.ZodType<Exclude<z.input<F>, undefined>, Exclude<z.input<F>, undefined>>>
    : z.ZodType<z.input<F>, z.input<F>>
type Shape = Readonly<Record<string, z.ZodType>>
type Given<S> = { [Name in keyof S]: S[Name] extends z.ZodType ? GivenField<S[Name]> : never }
type Parsed<S> = {
  [Name in keyof S]: S[Name] extends z.ZodType
    ? z.output<S[Name]> extends number
      ? z.ZodOptional<z.ZodNumber>
      : z.output<S[Name]> extends boolean
        ? z.ZodOptional<z.ZodBoolean>
        : GivenField<S[Name]>
    : never
}

function mapShape(
  schema: z.ZodObject | undefined,
  change: (field: z.ZodType) => z.ZodType,
): Record<string, z.ZodType> {
  const fields = Object.entries((schema?.shape ?? {}) as Shape)
  return Object.fromEntries(fields.map(([name, field]) => [name, change(field)]))
}

type Node = z.core.$ZodTypes

/**
 * Returns the field without transforms and defaults: a tool sends the input as given and the API applies both.
 * The default stays in the description.
 */
function asGiven(field: z.ZodType): z.ZodType {
  const { def } = (field as unknown as Node)._zod
  const inner = (wrapped: unknown) => asGiven(wrapped as z.ZodType)
  switch (def.type) {
    case 'default':
    case 'prefault':
      return inner(def.innerType)
        .optional()
        .meta({ ...metaOf(field), default: def.defaultValue })
    case 'optional':
      return inner(def.innerType).optional().meta(metaOf(field))
    case 'nullable':
      return inner(def.innerType).nullable().meta(metaOf(field))
    case 'pipe':
      return (def.in as Node)._zod.def.type === 'transform' ? field : inner(def.in).meta(metaOf(field))
    default:
      return field
  }
}

/** Returns the number or boolean at the end of a query field's pipe; null for other fields. */
function parsed(field: z.ZodType): z.ZodType | null {
  let last = field as unknown as Node
  for (;;) {
    const { def } = last._zod
    if (def.type === 'optional' || def.type === 'default') last = def.innerType as Node
    else if (def.type === 'pipe') last = def.out as Node
    else break
  }
  const { def } = last._zod
  if (def.type !== 'number' && def.type !== 'boolean') return null
  // Without coercion, which would accept text from a model too.
  const value = z.clone(last, { ...def, coerce: false } as never) as unknown as z.ZodType
  return value.optional().meta({ ...metaOf(field), default: field.parse(undefined) })
}

/** Returns the metadata of a field, without its schema id in the documentation. */
function metaOf(field: z.ZodType): Record<string, unknown> {
  const { id: _, ...rest } = field.meta() ?? {}
  return rest
}
