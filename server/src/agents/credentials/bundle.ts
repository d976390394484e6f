import { maxBundleBytes, maxBundledBytes, maxCredentialFiles } from '@roost/contracts/link/credentials'
import { z } from 'zod'
import type { Vault } from '../../foundation/vault/index.ts'
import { Fault } from '../../kit/fault.ts'
import { type CredentialBytes, validateFiles } from './rules.ts'

type Sealer = Pick<Vault, 'keyId' | 'sealBytes' | 'openBytes' | 'retired'>

const Envelope = z.object({
  v: z.literal(1),
  alg: z.literal('AES-256-GCM'),
  key_id: z.string().max(100),
  nonce: z.string().max(100),
  tag: z.string().max(100),
  files: z.array(z.string().max(300)).max(maxCredentialFiles),
  created_at: z.string().max(40),
  data: z.string(),
})
const Contents = z.record(z.string(), z.string())

/** Seals credential files into an envelope, as text. Throws `file_too_large`. */
export function sealBundle(files: readonly CredentialBytes[], createdAt: string, vault: Sealer): string {
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (total > maxBundledBytes) {
    throw new Fault('file_too_large', 'The credential files are together larger than 8 MiB.')
  }
  const names = files.map(({ path }) => path)
  const contents = Object.fromEntries(files.map(({ path, bytes }) => [path, bytes.toString('base64')]))
  const plain = Buffer.from(JSON.stringify(contents))
  const { nonce, tag, data } = vault.sealBytes(plain, contextOf(names, createdAt))
  return JSON.stringify({
    v: 1,
    alg: 'AES-256-GCM',
    key_id: vault.keyId,
    nonce: nonce.toString('base64'),
    tag: tag.toString('base64'),
    files: names,
    created_at: createdAt,
    data: data.toString('base64'),
  })
}

/**
 * Opens an envelope. Throws `bundle_corrupt` with the reason if it is invalid or was sealed with another key.
 */
export function openBundle(text: string, vault: Sealer): CredentialBytes[] {
  if (text.length > maxBundleBytes) throw corruptBundle('exceeds the maximum size')
  const envelope = Envelope.safeParse(parsed(text))
  if (!envelope.success) throw corruptBundle('is not a credential bundle')
  const { key_id, nonce, tag, files, created_at, data } = envelope.data
  const opener = key_id === vault.keyId ? vault : vault.retired(key_id)
  if (!opener) throw corruptBundle('was sealed by an installation with another encryption key')
  const plain = opened({ nonce, tag, data }, contextOf(files, created_at), opener)
  const contents = Contents.safeParse(parsed(plain.toString('utf8')))
  if (!contents.success) throw corruptBundle('does not contain files')
  const found = Object.entries(contents.data).map(([path, each]) => ({
    path,
    bytes: Buffer.from(each, 'base64'),
  }))
  if (found.map(({ path }) => path).join('\n') !== files.join('\n'))
    throw corruptBundle('does not match its list of files')
  try {
    validateFiles(found)
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause
    throw corruptBundle(`contains an invalid file: ${cause.message}`, cause)
  }
  return found
}

/** Names and time are readable without the key, but any change of them is detected. */
function contextOf(files: readonly string[], createdAt: string): string {
  return `credential-bundle:${JSON.stringify([files, createdAt])}`
}

function opened(
  { nonce, tag, data }: { nonce: string; tag: string; data: string },
  context: string,
  vault: Pick<Vault, 'openBytes'>,
): Buffer {
  const bytes = (text: string) => Buffer.from(text, 'base64')
  try {
    return vault.openBytes({ nonce: bytes(nonce), tag: bytes(tag), data: bytes(data) }, context)
  } catch (cause) {
    throw corruptBundle('was modified', cause)
  }
}

function corruptBundle(reason: string, cause?: unknown): Fault {
  return new Fault('bundle_corrupt', `The credential bundle ${reason}.`, {}, { cause })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
