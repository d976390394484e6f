import { inspect } from 'node:util'

/**
 * A value that must not be written by accident: JSON, templates and inspection print `[secret]`. Call
 * `reveal()` only where the value is used.
 */
export type Secret = { reveal(): string }

export function secret(value: string): Secret {
  const hidden = () => '[secret]'
  return Object.freeze({
    reveal: () => value,
    toString: hidden,
    toJSON: hidden,
    [inspect.custom]: hidden,
    [Symbol.toPrimitive]: hidden,
  })
}

/**
 * Returns the first or last characters of a secret, with which people tell secrets apart. Null when they
 * would be more than a quarter of it.
 */
export function shownPart(text: string, place: 'start' | 'end', characters: number): string | null {
  if (text.length < 4 * characters) return null
  return place === 'start' ? text.slice(0, characters) : text.slice(-characters)
}
