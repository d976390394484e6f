import { inspect } from 'node:util'

/**
 * A value that must not be written anywhere by accident: JSON, templates and inspection print `[secret]`.
 * `reveal()` is called at the last moment, where the value is used.
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
