import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LinkFault } from '../link/link.ts'

const mostKeys = 100
/** No option but an end: others could run a command at login. */
const shape =
  /^(expiry-time="\d{8,14}Z?" )?(ssh-(ed25519|rsa)|ecdsa-sha2-nistp\d{3}|sk-[a-z0-9@.-]+) [A-Za-z0-9+/=]+( [^\r\n]*)?$/

/**
 * Replaces the whole set of keys that may log in as the developer, one set after the other in the order in which
 * they came: the last one stays.
 */
export function createAuthorizedKeys(home: string): (keys: string[]) => Promise<void> {
  let before: Promise<void> = Promise.resolve()
  return (keys) => {
    const mine = before.then(() => setAuthorizedKeys(home, keys))
    before = mine.catch(() => {})
    return mine
  }
}

async function setAuthorizedKeys(home: string, keys: string[]): Promise<void> {
  if (keys.length > mostKeys || !keys.every((key) => shape.test(key)))
    throw new LinkFault('invalid_message', 'Not every key is a public key in one line.')
  const folder = join(home, '.ssh')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const path = join(folder, 'authorized_keys')
  await writeFile(`${path}.new`, keys.map((key) => `${key}\n`).join(''), { mode: 0o600 })
  await rename(`${path}.new`, path)
}
