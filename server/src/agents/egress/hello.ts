/**
 * Whom the first bytes of a connection are for: `more` are needed; `none`: it is no TLS, or names nobody; `broken`: it
 * begins as TLS does and goes on otherwise. As RFC 8446 (4.1.2) and RFC 6066 (3) have it.
 */
export type Hello = 'more' | 'none' | 'broken' | { name: string }

const handshakeRecord = 22
const clientHello = 1
const serverName = 0
const hostName = 0

export function readHello(bytes: Buffer): Hello {
  if (bytes.length > 0 && bytes[0] !== handshakeRecord) return 'none'
  const message = handshakeIn(bytes)
  if (!Buffer.isBuffer(message)) return message
  try {
    return namedIn(message)
  } catch (error) {
    // A length inside leads beyond the end.
    if (error instanceof RangeError) return 'broken'
    throw error
  }
}

/** The first message, which may be spread over several records. */
function handshakeIn(bytes: Buffer): Buffer | 'more' | 'broken' {
  const parts: Buffer[] = []
  for (let at = 0; at + 5 <= bytes.length; ) {
    if (bytes[at] !== handshakeRecord) return 'broken'
    const end = at + 5 + bytes.readUInt16BE(at + 3)
    parts.push(bytes.subarray(at + 5, end))
    if (end > bytes.length) break
    at = end
  }
  const all = Buffer.concat(parts)
  if (all.length > 0 && all[0] !== clientHello) return 'broken'
  if (all.length < 4 || all.length < 4 + all.readUIntBE(1, 3)) return 'more'
  return all.subarray(4, 4 + all.readUIntBE(1, 3))
}

/** Past the version, random bytes, the session, ciphers and compression; then the extensions. */
function namedIn(hello: Buffer): Hello {
  let at = 34
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  // Older clients may end here.
  if (at === hello.length) return 'none'
  const end = at + 2 + hello.readUInt16BE(at)
  if (end > hello.length) return 'broken'
  at += 2
  while (at < end) {
    const length = hello.readUInt16BE(at + 2)
    if (hello.readUInt16BE(at) === serverName) return nameIn(hello.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return 'none'
}

/** A list, of which the standard allows one host. */
function nameIn(list: Buffer): Hello {
  const length = list.readUInt16BE(3)
  const isOne = list.readUInt16BE(0) === list.length - 2 && list[2] === hostName && length === list.length - 5
  return isOne ? { name: list.toString('latin1', 5).toLowerCase().replace(/\.$/, '') } : 'broken'
}
