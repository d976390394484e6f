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

/**
 * Reads the files of a request. Throws `validation_error`, `credential_path_refused`, `invalid_mcp_json`,
 * `file_too_large`.
 */
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
  for (const [path] of [...texts, ...encoded]) rejectPath(path)
  const found = [
    ...texts.map(([path, text]) => ({ path, bytes: Buffer.from(text, 'utf8') })),
    ...encoded.map(([path, text]) => ({ path, bytes: decoded(path, text) })),
  ]
  validateFiles(found)
  return found
}

/** Validates files of bundles and requests alike. */
export function validateFiles(files: readonly CredentialBytes[]): void {
  for (const { path, bytes } of files) {
    rejectPath(path)
    if (bytes.length > maxCredentialBytes) {
      throw new Fault('file_too_large', `"${formatName(path)}" is larger than 1 MiB.`)
    }
    if (path === '.mcp.json') validateMcp(bytes.toString('utf8'))
  }
  // A path cannot be both file and folder, and names must differ on case-insensitive file systems.
  const paths = new Set(files.map(({ path }) => path.toLowerCase()))
  for (const path of paths) {
    const parts = path.split('/')
    const above = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
    if (above.some((folder) => paths.has(folder))) throw refusedPath(path, 'is below another file')
  }
  if (paths.size < files.length) throw refusedPath(files[0]?.path ?? '', 'is named twice')
}

function rejectPath(path: string): void {
  const fault = credentialPathFault(path)
  if (fault) throw refusedPath(path, fault)
}

function refusedPath(path: string, why: string): Fault {
  return new Fault('credential_path_refused', `"${formatName(path)}" ${why}.`, { path: formatName(path) })
}

function decoded(path: string, text: string): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) {
    throw invalidField(['files_b64', path], 'must be base64')
  }
  return Buffer.from(text, 'base64')
}

/** Throws `invalid_mcp_json`. */
export function validateMcp(text: string): void {
  const servers = mcpServersOf(text)
  if (!servers)
    throw new Fault('invalid_mcp_json', '.mcp.json must be an object with an object "mcpServers".')
  for (const [name, server] of Object.entries(servers)) {
    const fault = mcpServerFault(server) ?? (name === ownServer ? ownFault(server) : null)
    if (fault) throw new Fault('invalid_mcp_json', `.mcp.json: the server "${formatName(name)}" ${fault}.`)
  }
}

function ownFault(server: unknown): string | null {
  const isOurs = typeof server === 'object' && server !== null && 'type' in server && server.type === 'http'
  return isOurs ? null : 'belongs to the platform and cannot be changed'
}

/** Formats a name for a message: truncated and on one line. */
export function formatName(text: string): string {
  return text.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, '?')
}
