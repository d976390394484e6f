/** Readers for JSON from other programs. A field of an unexpected type counts as missing. */
export type Json = { [key: string]: unknown }

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the object at `key`, or an empty one. */
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

/** Returns the finite number at `key`, or null. */
export function numberAt(value: unknown, key: string): number | null {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

/** Returns a non-negative integer, such as a token count; 0 when missing. */
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
