import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** An address as EIP-55 writes it: the letters' case is a checksum. `address` is 0x and 40 hex digits. */
export function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const sums = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(sums[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/** Whether the letters hold; letters of one case alone hold no checksum. */
export function isChecksumRight(address: string): boolean {
  const letters = address.slice(2).replaceAll(/\d/g, '')
  if (letters === letters.toLowerCase() || letters === letters.toUpperCase()) return true
  return checksummed(address) === address
}
