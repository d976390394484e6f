import { z } from 'zod'
import { JsonValue } from '../kit/json.ts'

export type Json = Record<string, unknown>
type Direction = 'input' | 'output'

/** Turns schemas into JSON Schema 2020-12 whose named parts are components of the document. */
export type SchemaWriter = {
  /** `input`: what a client may send. `output`: what the server answers. */
  write(schema: z.ZodType, direction: Direction): Json
  /** The properties of an object in a path or a query, as the values that they stand for. */
  writeParameters(schema: z.ZodType): { name: string; isRequired: boolean; schema: Json }[]
  /** The components that were referred to so far, and those that these refer to. */
  components(): Record<string, Json>
}

/**
 * `names`: schemas that become components. A reply of another shape than its request, because of defaults or
 * conversions, is a component `<name>Output`: the name depends on the schema alone, never on who uses it.
 */
export function createSchemaWriter(names: ReadonlyMap<string, z.ZodType>): SchemaWriter {
  const shapes = new Map([...names].filter(([, schema]) => isShape(schema)))
  const nameOf = new Map([...shapes].map(([name, schema]) => [schema, name]))
  const convert = (schema: z.ZodType, io: Direction) => convertNamed(schema, io, nameOf)
  const forms = new Map(
    [...shapes].map(([name, schema]) => {
      const [input, output] = (['input', 'output'] as const).map((io) => convert(schema, io).$defs?.[name])
      if (!input || !output) throw new Error(`The schema "${name}" has no form of its own.`)
      return [name, { input, output }]
    }),
  )
  const twofold = differing(forms)
  const used = new Map<string, Json>()

  function refer(name: string, io: Direction): string {
    const form = forms.get(name)?.[io]
    // Only what refers to itself without a name is given one by the library.
    if (!form) throw new Error(`A recursive schema needs an exported name: ${name}`)
    const component = io === 'output' && twofold.has(name) ? `${name}Output` : name
    if (component !== name && names.has(component)) throw new Error(`Two schemas are named ${component}.`)
    if (!used.has(component)) {
      used.set(component, {})
      used.set(component, rewritten(form, io))
    }
    return `#/components/schemas/${component}`
  }
  const rewritten = (json: Json, io: Direction) =>
    mapRefs(json, (ref) => refer(ref.slice('#/$defs/'.length), io)) as Json

  function write(schema: z.ZodType, io: Direction): Json {
    const { $defs: _, ...json } = convert(schema, io)
    return rewritten(json, io)
  }

  return {
    write,
    writeParameters(schema) {
      // The whole is no component: its properties become parameters one by one.
      const inner = new Map([...nameOf].filter(([named]) => named !== schema))
      const [sent, read] = (['input', 'output'] as const).map(
        (io) => rewritten(convertNamed(schema, io, inner), io) as ObjectJson,
      )
      return Object.entries(sent?.properties ?? {}).map(([name, asText]) => {
        const json = valueFrom(asText, read?.properties?.[name] ?? {})
        return { name, isRequired: (sent?.required ?? []).includes(name), schema: withoutNull(json) }
      })
    },
    components: () =>
      Object.fromEntries([...used].sort(([one], [other]) => (one < other ? -1 : Number(one > other)))),
  }
}

type ObjectJson = { properties?: Record<string, Json>; required?: string[] }
type Converted = Json & { $defs?: Record<string, Json> }

function convertNamed(
  schema: z.ZodType,
  io: Direction,
  nameOf: ReadonlyMap<z.core.$ZodType, string>,
): Converted {
  // Descriptions come from where they were written, names from here.
  const metadata = {
    get(one: z.core.$ZodType) {
      const { id: _, ...given } = z.globalRegistry.get(one) ?? {}
      const id = nameOf.get(one)
      return id === undefined ? given : { ...given, id }
    },
  }
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    reused: 'inline',
    metadata: metadata as unknown as typeof z.globalRegistry,
    override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema),
  })
  return json as Converted
}

/** Replies may grow, integers need no bounds of their own, and a time may come without an offset. */
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

/** JSON Schema has no shorter way to say it; spelt out, it refers to itself, which TypeScript refuses. */
function anything(json: Json): void {
  for (const key of Object.keys(json)) if (key !== 'description') delete json[key]
  json.description ??= 'Any JSON value.'
}

/** A record of a fixed set of names is an object with these properties. */
function namedFields(json: Json): void {
  const { enum: names, type, ...rules } = (json.propertyNames ?? {}) as { enum?: string[]; type?: string }
  if (names) {
    json.properties = Object.fromEntries(names.map((name) => [name, json.additionalProperties]))
    delete json.additionalProperties
  }
  if (names || (type === 'string' && Object.keys(rules).length === 0)) delete json.propertyNames
}

/** A tuple of one type is a list of that length: not every tool knows tuples. */
function evenList(json: Json): void {
  const items = json.prefixItems as Json[]
  if (json.items || new Set(items.map((item) => JSON.stringify(item))).size !== 1) return
  Object.assign(json, { items: items[0], minItems: items.length, maxItems: items.length })
  delete json.prefixItems
}

/** Objects, choices and what refers to itself; texts, numbers and lists of them read better in place. */
function isShape(schema: z.ZodType): boolean {
  const { def } = schema._zod as unknown as z.core.$ZodTypes['_zod']
  if (def.type === 'pipe') return isShape(def.in as z.ZodType)
  return ['object', 'record', 'enum', 'union', 'intersection', 'lazy'].includes(def.type)
}

/** Names whose input differs from their output, be it in a part that they refer to. */
function differing(forms: ReadonlyMap<string, { input: Json; output: Json }>): Set<string> {
  const found = new Set<string>()
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const [name, { input, output }] of forms) {
      if (found.has(name)) continue
      const refs: string[] = []
      mapRefs(output, (ref) => {
        refs.push(ref.slice('#/$defs/'.length))
        return ref
      })
      if (JSON.stringify(input) !== JSON.stringify(output) || refs.some((ref) => found.has(ref)))
        found.add(name)
    }
  }
  return found
}

function mapRefs(json: unknown, map: (ref: string) => string): unknown {
  if (Array.isArray(json)) return json.map((item) => mapRefs(item, map))
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? map(value) : mapRefs(value, map),
    ]),
  )
}

/** A parameter as the value that its text stands for; as text where the server does not say what it reads. */
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

/** Text in an address is never null. */
function withoutNull(json: Json): Json {
  const { anyOf, ...rest } = json as { anyOf?: Json[] }
  if (!anyOf) return json
  const kinds = anyOf.filter(({ type }) => type !== 'null')
  return kinds.length === 1 ? { ...kinds[0], ...rest } : { anyOf: kinds, ...rest }
}
