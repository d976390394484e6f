/**
 * The server name in the first bytes of a connection (RFC 8446 4.1.2, RFC 6066 3). `more`: more bytes are
 * needed. `none`: not TLS, or without a name. `broken`: starts like TLS but is invalid.
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
    return serverNameOf(message)
  } catch (error) {
    // A length field points beyond the end.
    if (error instanceof RangeError) return 'broken'
    throw error
  }
}

/** The first handshake message, which may span several records. */
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

/** Skips version, random, session id, ciphers and compression, then searches the extensions. */
function serverNameOf(hello: Buffer): Hello {
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
    if (hello.readUInt16BE(at) === serverName) return readServerName(hello.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return 'none'
}

/** A list that the standard limits to one host name. */
function readServerName(list: Buffer): Hello {
  const length = list.readUInt16BE(3)
  const isSingleName =
    list.readUInt16BE(0) === list.length - 2 && list[2] === hostName && length === list.length - 5
  return isSingleName ? { name: list.toString('latin1', 5).toLowerCase().replace(/\.$/, '') } : 'broken'
}
