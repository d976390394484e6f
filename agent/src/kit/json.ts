/**
 * Reading what other programs wrote: nothing is known about its shape, and a field of another type than
 * expected is the same as a missing one.
 */
export type Json = { [key: string]: unknown }

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object at `key`, or an empty one. */
export function objectAt(value: unknown, key: string): Json {
  const found = isObject(value) ? value[key] : undefined
  return isObject(found) ? found : {}
}

export function listAt(value: unknown, key: string): unknown[] {
  const found = isObject(value) ? value[key] : undefined
  return Array.isArray(found) ? found : []
}

export function textAt(value: unknown, key: string): string | null {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'string' ? found : null
}

/** A finite number at `key`, else null. */
export function numberAt(value: unknown, key: string): number | null {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

/** A count of tokens or the like: a whole number of at least 0. */
export function countAt(value: unknown, key: string): number {
  return Math.max(0, Math.round(numberAt(value, key) ?? 0))
}

export function parseObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
