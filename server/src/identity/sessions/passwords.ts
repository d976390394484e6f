import { argon2, randomBytes } from 'node:crypto'
import { passwordLength } from '@roost/contracts/identity/setup'
import { isSameSecret } from '../../kit/same-secret.ts'

export type Passwords = {
  /** Returns the standard form `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  hash(password: string): Promise<string>
  /** Null (no account or no password) does the same work and returns false. */
  matches(password: string, stored: string | null): Promise<boolean>
}

const memory = 19_456
const passes = 2
const parallelism = 1
const hashBytes = 32
const saltBytes = 16

/** Argon2id with the parameters of the OWASP cheat sheet, in a worker thread: about 40 ms and 19 MiB each. */
export function createPasswords(): Passwords {
  const decoy = { salt: randomBytes(saltBytes), hash: randomBytes(hashBytes), memory, passes, parallelism }
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      const hash = await derive(password, {
        salt,
        hash: Buffer.alloc(hashBytes),
        memory,
        passes,
        parallelism,
      })
      return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`
    },
    async matches(password, stored) {
      const parsed = stored === null ? null : parse(stored)
      const expected = parsed ?? decoy
      const derived = await derive(password, expected)
      return isSameSecret(derived, expected.hash) && parsed !== null
    },
  }
}

/** Counts code points, not UTF-16 code units. */
export function isAcceptablePassword(password: string): boolean {
  const length = [...normalize(password)].length
  return length >= passwordLength.least && length <= passwordLength.most
}

type Parts = { salt: Buffer; hash: Buffer; memory: number; passes: number; parallelism: number }

/** Reads the stored parameters, so that old hashes stay valid if the defaults change. */
function parse(stored: string): Parts | null {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(stored)
  const [, memoryText, passesText, parallelismText, salt, hash] = match ?? []
  if (!salt || !hash) return null
  return {
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
    memory: Number(memoryText),
    passes: Number(passesText),
    parallelism: Number(parallelismText),
  }
}

function derive(password: string, parts: Parts): Promise<Buffer> {
  const parameters = {
    message: Buffer.from(normalize(password)),
    nonce: parts.salt,
    tagLength: parts.hash.length,
    memory: parts.memory,
    passes: parts.passes,
    parallelism: parts.parallelism,
  }
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, derived) => (error ? reject(error) : resolve(derived)))
  })
}

/** Keyboards compose accented letters differently, so both forms must match. */
function normalize(password: string): string {
  return password.normalize('NFKC')
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
