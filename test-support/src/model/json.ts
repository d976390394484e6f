/** Readers for JSON of unknown form: what is not there, or is something else, reads as empty. */

export type JsonObject = Record<string, unknown>

/** The value as an object; an empty one when it is none. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The objects in an array; empty when the value is none. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The value as text; empty when it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Whether the value is an object and no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
