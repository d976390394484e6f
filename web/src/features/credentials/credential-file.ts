import { credentialPathFault, maxCredentialBytes } from '@roost/contracts/link/credentials'

export type CredentialFile = { path: string; text: string; base64: string | null }

/** A local file; null when it is too large. */
export async function readCredentialFile(file: File): Promise<CredentialFile | null> {
  if (file.size > maxCredentialBytes) return null
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = textOf(bytes)
  const path = pathFor(file.name)
  return text === null ? { path, text: '', base64: toBase64(bytes) } : { path, text, base64: null }
}

/** Other names than those of credential files are put below `credentials/`. */
export function pathFor(name: string): string {
  return credentialPathFault(name) === null ? name : `credentials/${name}`
}

/** Null for anything but UTF-8 text, and for text that a form field would change. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return /[\0\r]/.test(text) ? null : text
  } catch {
    return null
  }
}

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  // In chunks: a function call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(text)
}
