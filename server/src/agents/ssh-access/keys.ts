import { generateKeyPairSync, randomBytes } from 'node:crypto'

export type SshKeyPair = { publicKey: string; privateKey: string }

/** Creates an unencrypted ed25519 key pair in OpenSSH's formats. */
export function newSshKeyPair(comment: string): SshKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = fromJwk(publicKey.export({ format: 'jwk' }).x)
  const seed = fromJwk(privateKey.export({ format: 'jwk' }).d)
  const publicBlob = Buffer.concat([field('ssh-ed25519'), field(point)])
  return {
    publicKey: `ssh-ed25519 ${publicBlob.toString('base64')} ${comment}`,
    privateKey: openSshPrivateKey({ publicBlob, point, seed, comment }),
  }
}

const types = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
])

/**
 * Parses one public key in the format of `authorized_keys`: type, base64 and a cleaned comment. Null for
 * invalid keys and for keys with options, which could run a command at login.
 */
export function parsePublicKey(text: string): string | null {
  const [type, base64, ...comment] = text.trim().split(/[ \t]+/)
  if (!type || !base64 || !types.has(type) || /[\r\n]/.test(text.trim())) return null
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  const blob = Buffer.from(base64, 'base64')
  if (blob.length < 4 + type.length || blob.length > 8192) return null
  const length = blob.readUInt32BE(0)
  if (length !== type.length || blob.subarray(4, 4 + length).toString('latin1') !== type) return null
  const note = comment
    .join(' ')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .slice(0, 200)
  return [type, base64, note].filter((part) => part !== '').join(' ')
}

type PrivateParts = { publicBlob: Buffer; point: Buffer; seed: Buffer; comment: string }

/** The format `openssh-key-v1`, as written by `ssh-keygen` for an unencrypted key. */
function openSshPrivateKey({ publicBlob, point, seed, comment }: PrivateParts): string {
  const check = randomBytes(4)
  const secrets = Buffer.concat([
    check,
    check,
    field('ssh-ed25519'),
    field(point),
    field(Buffer.concat([seed, point])),
    field(comment),
  ])
  const blockSize = 8
  const padding = Buffer.from(
    Array.from({ length: (blockSize - (secrets.length % blockSize)) % blockSize }, (_, index) => index + 1),
  )
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0', 'latin1'),
    field('none'),
    field('none'),
    field(''),
    uint32(1),
    field(publicBlob),
    field(Buffer.concat([secrets, padding])),
  ]).toString('base64')
  const lines = body.match(/.{1,70}/g) ?? []
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n')
}

function field(value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value
  return Buffer.concat([uint32(bytes.length), bytes])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function fromJwk(value: unknown): Buffer {
  if (typeof value !== 'string') throw new Error('The ed25519 key lacks a required part.')
  return Buffer.from(value, 'base64url')
}
