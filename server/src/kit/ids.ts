import { randomBytes } from 'node:crypto'

/** 22 URL-safe characters with 128 random bits. Never starts with a hyphen, like a command line option. */
export function newId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url')
    if (!id.startsWith('-')) return id
  }
}

/** 43 URL-safe characters with 256 random bits, for keys, tokens and secrets. */
export function newSecretText(): string {
  return randomBytes(32).toString('base64url')
}
