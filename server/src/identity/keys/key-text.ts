import { hash } from 'node:crypto'
import { newSecretText } from '../../kit/ids.ts'
import { shownPart } from '../../kit/secret.ts'
import { keyTextPrefix } from '../access/index.ts'

/** Length of the prefix that lists show. */
const visibleCharacters = 12
const shape = new RegExp(`^${keyTextPrefix}[A-Za-z0-9_-]{43}$`)

/** `svc_mcp_` and 43 URL-safe characters: 256 random bits. */
export function newKeyText(): string {
  return keyTextPrefix + newSecretText()
}

export function isKeyText(text: string): boolean {
  return shape.test(text)
}

/** A key has 256 random bits, so one round of SHA-256 is as safe as a slow hash. */
export function hashOfKey(text: string): string {
  return hash('sha256', text, 'hex')
}

export function visiblePrefix(text: string): string {
  return shownPart(text, 'start', visibleCharacters) ?? ''
}
