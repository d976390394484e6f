import { z } from 'zod'

const encoder = new TextEncoder()

/** Bytes of a value as JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length
}

/** Any value that JSON can hold. */
export const JsonValue = z.json()

/** An object that is at most so many KiB of JSON. */
export function jsonObject(kibibytes: number) {
  return z.record(z.string(), z.unknown()).refine((value) => jsonBytes(value) <= kibibytes * 1024, {
    message: `must be at most ${kibibytes} KiB of JSON`,
  })
}
