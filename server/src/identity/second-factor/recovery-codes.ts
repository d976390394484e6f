import { randomInt } from 'node:crypto'

const codes = 10
const characters = 10
/** Without those that are taken for one another. */
const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'

/** Ten codes of 49 bits of chance each. */
export function newRecoveryCodes(): string[] {
  const all = new Set<string>()
  while (all.size < codes) all.add(newRecoveryCode())
  return [...all]
}

function newRecoveryCode(): string {
  return Array.from({ length: characters }, () => alphabet[randomInt(alphabet.length)]).join('')
}
