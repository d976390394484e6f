import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LinkFault } from '../link/link.ts'

const maxKeys = 100
/** Allows only the option `expiry-time`: other options could run a command at login. */
const publicKey =
  /^(expiry-time="\d{8,14}Z?" )?(ssh-(ed25519|rsa)|ecdsa-sha2-nistp\d{3}|sk-[a-z0-9@.-]+) [A-Za-z0-9+/=]+( [^\r\n]*)?$/

/** Replaces the set of keys in `folder` that may log in as the developer. Sets are applied in their order of arrival. */
export function createAuthorizedKeys(folder: string): (keys: string[]) => Promise<void> {
  let before: Promise<void> = Promise.resolve()
  return (keys) => {
    const next = before.then(() => setAuthorizedKeys(folder, keys))
    before = next.catch(() => {})
    return next
  }
}

async function setAuthorizedKeys(folder: string, keys: string[]): Promise<void> {
  if (keys.length > maxKeys || !keys.every((key) => publicKey.test(key)))
    throw new LinkFault('invalid_message', 'Not every key is a public key in one line.')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const path = join(folder, 'authorized_keys')
  await writeFile(`${path}.new`, keys.map((key) => `${key}\n`).join(''), { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** True if somebody may log in; also when that is unknown. */
export async function hasAuthorizedKeys(folder: string): Promise<boolean> {
  return readFile(join(folder, 'authorized_keys'), 'utf8').then(
    (text) => text.trim() !== '',
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
}

/** Returns the public host keys as type and base64, without comments; empty before the SSH server created them. */
export async function readHostKeys(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'ssh_host_ed25519_key.pub'), 'utf8').catch(() => '')
  const key = text.split(' ').slice(0, 2).join(' ').trim()
  return publicKey.test(key) ? [key] : []
}
