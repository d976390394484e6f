import { z } from 'zod'
import { JsonValue } from '../kit/json.ts'

export type Json = Record<string, unknown>
type Direction = 'input' | 'output'

/** Converts schemas into JSON Schema 2020-12. Named schemas become components of the document. */
export type SchemaWriter = {
  /** `input`: what a client may send. `output`: what the server returns. */
  write(schema: z.ZodType, direction: Direction): Json
  /** Returns the parameters of a path or query, with the type of the value that the server reads. */
  writeParameters(schema: z.ZodType): { name: string; isRequired: boolean; schema: Json }[]
  /** Returns the components that were referenced so far, directly or not. */
  components(): Record<string, Json>
}

/**
 * `names` become components; `parts` and `parameters` are all that will be written. Where a reply differs from the
 * request of the same schema, its component is `<name>Output`. A name depends on the schema alone, never on its users.
 */
export function createSchemaWriter(
  names: ReadonlyMap<string, z.ZodType>,
  parts: readonly z.ZodType[],
  parameters: readonly z.ZodType[],
): SchemaWriter {
  const ids = new Map<z.ZodType, string>()
  for (const [name, schema] of names) if (isShape(schema)) ids.set(schema, name)
  // A path or query is never a component: each of its properties becomes a parameter.
  const copies = new Map([...new Set(parameters)].map((schema) => [schema, z.object(fieldsOf(schema))]))
  for (const schema of [...parts, ...copies.values()]) if (!ids.has(schema)) ids.set(schema, `${ids.size}`)
  const forms = convertAll(ids)
  const twofold = differing(forms)
  const used = new Map<string, Json>()

  /** Returns the reference of a component, or the schema itself when it has no name. */
  function refer(id: string, io: Direction): string | Json {
    const form = forms.get(id)?.[io]
    // The library invents an id only for a recursive schema without a name.
    if (!form) throw new Error(`A recursive schema needs an exported name: ${id}`)
    if (/^\d/.test(id)) return rewritten(form, io)
    const component = io === 'output' && twofold.has(id) ? `${id}Output` : id
    if (component !== id && names.has(component)) throw new Error(`Two schemas are named ${component}.`)
    if (!used.has(component)) {
      used.set(component, {})
      used.set(component, rewritten(form, io))
    }
    return `#/components/schemas/${component}`
  }
  const rewritten = (json: Json, io: Direction) => mapRefs(json, (id) => refer(id, io)) as Json

  function write(schema: z.ZodType, io: Direction): Json {
    const found = refer(ids.get(schema) ?? '', io)
    return typeof found === 'string' ? { $ref: found } : found
  }

  return {
    write,
    writeParameters(schema) {
      const copy = copies.get(schema) ?? schema
      const [sent, read] = [write(copy, 'input') as ObjectJson, write(copy, 'output') as ObjectJson]
      return Object.entries(sent.properties ?? {}).map(([name, asText]) => {
        const json = valueFrom(asText, read.properties?.[name] ?? {})
        return { name, isRequired: (sent.required ?? []).includes(name), schema: withoutNull(json) }
      })
    },
    components: () =>
      Object.fromEntries([...used].sort(([one], [other]) => (one < other ? -1 : Number(one > other)))),
  }
}

function fieldsOf(schema: z.ZodType): z.ZodRawShape {
  if (schema instanceof z.ZodObject) return schema.shape
  throw new Error('The parameters of a path or a query are an object.')
}

type ObjectJson = { properties?: Record<string, Json>; required?: string[] }
type Forms = Map<string, { input: Json; output: Json }>

/** Converts every schema in both directions. References have the form `#<id>`. */
function convertAll(ids: ReadonlyMap<z.ZodType, string>): Forms {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of ids) registry.add(schema, { id })
  // The registry of the names replaces the ids in the metadata.
  const metadata = {
    get(one: z.core.$ZodType) {
      const { id: _, ...given } = z.globalRegistry.get(one) ?? {}
      return given
    },
  }
  const [input = {}, output = {}] = (['input', 'output'] as const).map(
    (io) =>
      z.toJSONSchema(registry, {
        io,
        unrepresentable: 'any',
        reused: 'inline',
        uri: (id) => `#${id}`,
        metadata: metadata as unknown as typeof z.globalRegistry,
        override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema),
      }).schemas as Record<string, Json>,
  )
  const bare = ({ $schema: _, $id: __, ...json }: Json = {}) => json
  return new Map([...ids.values()].map((id) => [id, { input: bare(input[id]), output: bare(output[id]) }]))
}

/** Removes rules that are too strict: replies may get new fields, integers have no implied bounds. */
function simplify(schema: z.core.$ZodTypes, json: Json): void {
  const { def } = schema._zod
  delete json.id
  if (def.type === 'object' && def.catchall === undefined) delete json.additionalProperties
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
  if (def.type === 'tuple') evenList(json)
  if (def.type === 'lazy' && def.getter === anyJson.getter) anything(json)
  if (def.type === 'record') namedFields(json)
  if (json.format === 'date-time' && json.pattern !== undefined) delete json.format
  if (json.format === 'starts_with') delete json.format
}

const anyJson = JsonValue._zod.def as unknown as z.core.$ZodLazyDef

/** Written out, the schema refers to itself, which TypeScript refuses in a generated client. */
function anything(json: Json): void {
  for (const key of Object.keys(json)) if (key !== 'description') delete json[key]
  json.description ??= 'Any JSON value.'
}

/** Writes a record of fixed names as an object with these properties. */
function namedFields(json: Json): void {
  const { enum: names, type, ...rules } = (json.propertyNames ?? {}) as { enum?: string[]; type?: string }
  if (names) {
    json.properties = Object.fromEntries(names.map((name) => [name, json.additionalProperties]))
    delete json.additionalProperties
  }
  if (names || (type === 'string' && Object.keys(rules).length === 0)) delete json.propertyNames
}

/** Writes a tuple of one type as a list of that length, because not every tool knows tuples. */
function evenList(json: Json): void {
  const items = json.prefixItems as Json[]
  if (json.items || new Set(items.map((item) => JSON.stringify(item))).size !== 1) return
  Object.assign(json, { items: items[0], minItems: items.length, maxItems: items.length })
  delete json.prefixItems
}

/** True for objects, choices and recursive schemas. Texts, numbers and lists read better in place. */
function isShape(schema: z.ZodType): boolean {
  const { def } = schema._zod as unknown as z.core.$ZodTypes['_zod']
  if (def.type === 'pipe') return isShape(def.in as z.ZodType)
  return ['object', 'record', 'enum', 'union', 'intersection', 'lazy'].includes(def.type)
}

/** Returns the ids whose input differs from their output, in themselves or in a part. */
function differing(forms: Forms): Set<string> {
  const found = new Set<string>()
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const [id, { input, output }] of forms) {
      if (found.has(id)) continue
      const refs: string[] = []
      mapRefs(output, (ref) => {
        refs.push(ref)
        return ref
      })
      if (JSON.stringify(input) !== JSON.stringify(output) || refs.some((ref) => found.has(ref)))
        found.add(id)
    }
  }
  return found
}

/** Replaces each `$ref`. `map` gets the id and returns a reference or a schema. */
function mapRefs(json: unknown, map: (id: string) => string | Json): unknown {
  if (Array.isArray(json)) return json.map((item) => mapRefs(item, map))
  if (typeof json !== 'object' || json === null) return json
  const { $ref, ...rest } = json as Json
  const mapped = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, mapRefs(value, map)]))
  if (typeof $ref !== 'string') return mapped
  const found = map($ref.slice(1))
  return typeof found === 'string' ? { $ref: found, ...mapped } : { ...found, ...mapped }
}

/** Returns the type that the server reads from the text, or the text when that type is unknown. */
function valueFrom(asText: Json, asValue: Json): Json {
  const isTyped = ['type', 'enum', 'const', 'anyOf', '$ref'].some((key) => key in asValue)
  if (!isTyped) return asText
  const { description, default: fallback } = asText
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...asValue,
  }
}

/** A parameter is never null. */
function withoutNull(json: Json): Json {
  const { anyOf, ...rest } = json as { anyOf?: Json[] }
  if (!anyOf) return json
  const kinds = anyOf.filter(({ type }) => type !== 'null')
  return kinds.length === 1 ? { ...kinds[0], ...rest } : { anyOf: kinds, ...rest }
}
