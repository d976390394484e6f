import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/**
 * Returns an address in EIP-55 form, where the case of the letters is a checksum. `address` is 0x and 40 hex digits.
 */
export function withChecksum(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const sums = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(sums[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/** Whether the checksum is right. An address with letters of a single case has no checksum and passes. */
export function isChecksumValid(address: string): boolean {
  const letters = address.slice(2).replaceAll(/\d/g, '')
  if (letters === letters.toLowerCase() || letters === letters.toUpperCase()) return true
  return withChecksum(address) === address
}
