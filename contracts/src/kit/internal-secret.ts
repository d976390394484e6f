/**
 * The credential of the platform's own processes on the internal listener: the scheduler, the MCP server and the
 * command line. Derived from the encryption key, so that every process of an installation knows the same one.
 */

type Sources = {
  ROOST_INTERNAL_SECRET?: string | undefined
  ROOST_INTERNAL_SECRET_FILE?: string | undefined
  ROOST_ENCRYPTION_KEY?: string | undefined
  ROOST_DATA_DIR?: string | undefined
}

/**
 * Returns the configured secret, the one in the configured file, or derives it from the configured encryption key or the
 * one in the data folder. Throws the error of `readFile`, and `TypeError` for a key that is not 32 bytes in hex.
 */
export async function internalSecret(
  env: Sources,
  readFile: (path: string) => Promise<string>,
): Promise<string> {
  const configured = env.ROOST_INTERNAL_SECRET?.trim()
  if (configured) return configured
  const file = env.ROOST_INTERNAL_SECRET_FILE?.trim()
  if (file) return (await readFile(file)).trim()
  const folder = env.ROOST_DATA_DIR?.trim() || './data'
  const key = env.ROOST_ENCRYPTION_KEY?.trim() || (await readFile(`${folder}/encryption.key`)).trim()
  if (!/^[0-9a-f]{64}$/i.test(key)) throw new TypeError('The encryption key is not 32 bytes in hex.')
  return derive(Uint8Array.from(key.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)))
}

/** HKDF-SHA256. The label separates it from everything else that is derived from the key. */
async function derive(key: Uint8Array<ArrayBuffer>): Promise<string> {
  const material = await crypto.subtle.importKey('raw', key, 'HKDF', false, ['deriveBits'])
  const info = new TextEncoder().encode('roost.internal-listener')
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const bits = new Uint8Array(await crypto.subtle.deriveBits(parameters, material, 256))
  return `svc_internal_${Array.from(bits, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
