import { z } from 'zod'

const encoder = new TextEncoder()

/** Returns the size of a value as JSON, in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length
}

/** Any JSON value. */
export const JsonValue = z.json()

/** An object of at most `kibibytes` KiB of JSON. */
export function jsonObject(kibibytes: number) {
  return z.record(z.string(), z.unknown()).refine((value) => jsonBytes(value) <= kibibytes * 1024, {
    message: `must be at most ${kibibytes} KiB of JSON`,
  })
}
