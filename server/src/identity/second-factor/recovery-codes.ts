import { randomInt } from 'node:crypto'

const codeCount = 10
const codeLength = 10
/** Without characters that look alike. */
const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'

/** Ten codes of 49 random bits each. */
export function newRecoveryCodes(): string[] {
  const codes = new Set<string>()
  while (codes.size < codeCount) codes.add(newRecoveryCode())
  return [...codes]
}

function newRecoveryCode(): string {
  return Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('')
}
