import type { InjectCredentials } from '@roost/contracts/agents/credentials'
import {
  credentialPathFault,
  maxCredentialBytes,
  maxCredentialFiles,
  mcpServerFault,
  mcpServersOf,
  ownServer,
} from '@roost/contracts/link/credentials'
import { Fault, invalidField } from '../../kit/fault.ts'

export type CredentialBytes = { path: string; bytes: Buffer }

/** The files of a request. Throws `validation_error`, `credential_path_refused`, `invalid_mcp_json`, `file_too_large`. */
export function filesOf({ files, files_b64 }: InjectCredentials): CredentialBytes[] {
  const texts = Object.entries(files)
  const encoded = Object.entries(files_b64)
  const count = texts.length + encoded.length
  if (count === 0) throw invalidField(['files'], 'must name at least one file, here or in files_b64')
  if (count > maxCredentialFiles) {
    throw invalidField(['files'], `must name at most ${maxCredentialFiles} files, together with files_b64`)
  }
  for (const [path] of encoded) {
    if (Object.hasOwn(files, path)) throw invalidField(['files_b64', path], 'is in files as well')
    if (path === '.mcp.json') throw invalidField(['files_b64', path], 'is given as text, in files')
  }
  for (const [path] of [...texts, ...encoded]) refusePath(path)
  const found = [
    ...texts.map(([path, text]) => ({ path, bytes: Buffer.from(text, 'utf8') })),
    ...encoded.map(([path, text]) => ({ path, bytes: decoded(path, text) })),
  ]
  refuseFiles(found)
  return found
}

/** What holds for files of a bundle as for those of a request. */
export function refuseFiles(files: readonly CredentialBytes[]): void {
  for (const { path, bytes } of files) {
    refusePath(path)
    if (bytes.length > maxCredentialBytes) {
      throw new Fault('file_too_large', `"${shown(path)}" is larger than 1 MiB.`)
    }
    if (path === '.mcp.json') refuseMcp(bytes.toString('utf8'))
  }
  // A folder cannot be a file at once; in a file system without case two names would be one.
  const paths = new Set(files.map(({ path }) => path.toLowerCase()))
  for (const path of paths) {
    const parts = path.split('/')
    const above = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
    if (above.some((folder) => paths.has(folder))) throw refused(path, 'lies below another file')
  }
  if (paths.size < files.length) throw refused(files[0]?.path ?? '', 'is named twice')
}

function refusePath(path: string): void {
  const fault = credentialPathFault(path)
  if (fault) throw refused(path, fault)
}

function refused(path: string, why: string): Fault {
  return new Fault('credential_path_refused', `"${shown(path)}" ${why}.`, { path: shown(path) })
}

function decoded(path: string, text: string): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) {
    throw invalidField(['files_b64', path], 'must be base64')
  }
  return Buffer.from(text, 'base64')
}

/** Throws `invalid_mcp_json`. */
export function refuseMcp(text: string): void {
  const servers = mcpServersOf(text)
  if (!servers)
    throw new Fault('invalid_mcp_json', '.mcp.json must be an object with an object "mcpServers".')
  for (const [name, server] of Object.entries(servers)) {
    const fault = mcpServerFault(server) ?? (name === ownServer ? ownFault(server) : null)
    if (fault) throw new Fault('invalid_mcp_json', `.mcp.json: the server "${shown(name)}" ${fault}.`)
  }
}

function ownFault(server: unknown): string | null {
  const isOurs = typeof server === 'object' && server !== null && 'type' in server && server.type === 'http'
  return isOurs ? null : "is the platform's own and keeps its shape"
}

/** A name in a sentence: short, on one line. */
export function shown(text: string): string {
  return text.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, '?')
}
