import type { z } from 'zod'

/** A key that the schema does not name; `known` are the names that it has at that path. */
export type UnknownKey = { path: (string | number)[]; key: string; known: string[] }

/**
 * Returns every key of `value` that the schema does not name, at any depth. Parsing would drop such a key, or keep it in
 * a loose object. In a union of objects, a key is unknown if no option names it.
 */
export function unknownKeys(schema: z.ZodType, value: unknown): UnknownKey[] {
  return walk(schema as unknown as Schema, value, [])
}

type Schema = z.core.$ZodTypes
type Path = UnknownKey['path']

function walk(schema: Schema, value: unknown, path: Path): UnknownKey[] {
  const { def } = schema._zod
  const into = (inner: unknown) => walk(inner as Schema, value, path)
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return into(def.innerType)
    case 'pipe':
      return into(def.in)
    case 'lazy':
      return into(def.getter())
    case 'array':
      if (!Array.isArray(value)) return []
      return value.flatMap((item, index) => walk(def.element as Schema, item, [...path, index]))
    case 'record':
      return entriesOf(value).flatMap(([key, item]) => walk(def.valueType as Schema, item, [...path, key]))
    case 'object':
      return ofObject(def.shape as Record<string, Schema>, value, path)
    case 'union':
      return ofUnion(def.options as readonly Schema[], value, path)
    default:
      return []
  }
}

function ofObject(shape: Record<string, Schema>, value: unknown, path: Path): UnknownKey[] {
  return entriesOf(value).flatMap(([key, item]) => {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined
    return field ? walk(field, item, [...path, key]) : [{ path, key, known: Object.keys(shape) }]
  })
}

function ofUnion(options: readonly Schema[], value: unknown, path: Path): UnknownKey[] {
  const [first, ...others] = options
    .filter((option) => accepts(option, value))
    .map((option) => walk(option, value, path))
  const same = (a: UnknownKey) => (b: UnknownKey) => a.key === b.key && `${a.path}` === `${b.path}`
  return (first ?? []).filter((unknown) => others.every((each) => each.some(same(unknown))))
}

/** False for an option of another kind than the value, such as text for an object. */
function accepts(option: Schema, value: unknown): boolean {
  const kind = Array.isArray(value) ? ['array'] : ['object', 'record', 'union']
  return kind.includes(option._zod.def.type)
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
}
