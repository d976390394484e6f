import { randomBytes } from 'node:crypto'

/** 22 URL-safe characters, 128 bits of chance. */
export function newId(): string {
  return randomBytes(16).toString('base64url')
}

/** 43 URL-safe characters, 256 bits of chance: keys, tokens, secrets. */
export function newSecretText(): string {
  return randomBytes(32).toString('base64url')
}
