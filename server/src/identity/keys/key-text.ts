import { hash } from 'node:crypto'
import { newSecretText } from '../../kit/ids.ts'
import { shownPart } from '../../kit/secret.ts'
import { keyTextPrefix } from '../access/index.ts'

/** The part of a key that is shown in lists. */
const visibleCharacters = 12
const shape = new RegExp(`^${keyTextPrefix}[A-Za-z0-9_-]{43}$`)

/** `svc_mcp_` and 43 URL-safe characters: 256 bits of chance. */
export function newKeyText(): string {
  return keyTextPrefix + newSecretText()
}

export function isKeyText(text: string): boolean {
  return shape.test(text)
}

/** A key is chance itself, so one round of SHA-256 keeps it as well as a slow hash would. */
export function hashOfKey(text: string): string {
  return hash('sha256', text, 'hex')
}

export function visiblePrefix(text: string): string {
  return shownPart(text, 'start', visibleCharacters) ?? ''
}
