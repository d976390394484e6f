import { randomBytes } from 'node:crypto'

/** 22 URL-safe characters, 128 bits of chance. Never begins like an option of a command line. */
export function newId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url')
    if (!id.startsWith('-')) return id
  }
}

/** 43 URL-safe characters, 256 bits of chance: keys, tokens, secrets. */
export function newSecretText(): string {
  return randomBytes(32).toString('base64url')
}
