/** Readers for JSON of unknown shape: missing or unexpected values read as empty. */

export type JsonObject = Record<string, unknown>

/** Returns the value if it is an object, else an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Returns the objects in an array; empty for other values. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Returns the value if it is a string, else an empty string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** True for an object that is not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
