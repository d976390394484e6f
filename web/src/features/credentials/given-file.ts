import { credentialPathFault, maxCredentialBytes } from '@roost/contracts/link/credentials'

export type GivenFile = { path: string; text: string; base64: string | null }

/** A file of this computer; null when it is too large. */
export async function givenFile(file: File): Promise<GivenFile | null> {
  if (file.size > maxCredentialBytes) return null
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = textOf(bytes)
  const path = pathFor(file.name)
  return text === null ? { path, text: '', base64: toBase64(bytes) } : { path, text, base64: null }
}

/** Names that are no credential file by themselves are one below `credentials/`. */
export function pathFor(name: string): string {
  return credentialPathFault(name) === null ? name : `credentials/${name}`
}

/** Null for what is no text in UTF-8, or would not come back as it is from a field of a form. */
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
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(text)
}
