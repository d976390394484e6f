import {
  bundleFile,
  type CredentialFile,
  type LeftOutServer,
  maxBundleBytes,
  maxBundledBytes,
  maxCredentialBytes,
  maxCredentialFiles,
  mcpTemplateFile,
} from '@roost/contracts/link/credentials'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import { Fault, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Agent } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { type CredentialBytes, formatName } from './rules.ts'

type AgentRef = Pick<Agent, 'id' | 'name' | 'status'>
export type AgentFiles = {
  read(agent: AgentRef, path: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer>
  /** Null for a file that somebody other than the owner may have written, and for one behind a link. */
  readOwners(agent: AgentRef, path: string, maxBytes: number): Promise<Buffer | null>
  write(agent: AgentRef, files: readonly CredentialBytes[], signal?: AbortSignal): Promise<LeftOutServer[]>
}

/**
 * Transfers credential files over the link in chunks. Throws the faults of `ask`, and `conflict` for other
 * workspace errors.
 */
export function createAgentFiles({ ask }: { ask: CallAgent }): AgentFiles {
  async function read(
    agent: AgentRef,
    path: string,
    mostBytes: number,
    { signal, ownersOnly }: { signal?: AbortSignal | undefined; ownersOnly: boolean },
  ): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let offset = 0; ; ) {
      const request = { path, offset, length: fileChunkBytes, ...(ownersOnly ? { owners_only: true } : {}) }
      const piece = await ask(agent, 'credentials.read', request, signal).catch(faultMapper(path))
      if (piece.size > mostBytes) throw new Fault('file_too_large', `"${formatName(path)}" is too large.`)
      const bytes = Buffer.from(piece.data_base64, 'base64')
      offset += bytes.length
      // Stops an agent that sends more bytes than it announced.
      if (offset > mostBytes) throw new Fault('file_too_large', `"${formatName(path)}" is too large.`)
      pieces.push(bytes)
      if (piece.eof || bytes.length === 0) return Buffer.concat(pieces)
    }
  }

  return {
    read: (agent, path, mostBytes, signal) => read(agent, path, mostBytes, { signal, ownersOnly: false }),

    readOwners: (agent, path, mostBytes) =>
      read(agent, path, mostBytes, { ownersOnly: true }).catch((cause: unknown) => {
        if (isFault(cause, 'credential_path_refused')) return null
        throw cause
      }),

    async write(agent, files, signal) {
      const upload_id = newId()
      for (const { path, bytes } of files) {
        let offset = 0
        do {
          const chunk = bytes.subarray(offset, offset + fileChunkBytes)
          const request = { upload_id, path, offset, data_base64: chunk.toString('base64') }
          await ask(agent, 'credentials.write', request, signal).catch(faultMapper(path))
          offset += chunk.length
        } while (offset < bytes.length)
      }
      const request = { upload_id, paths: files.map(({ path }) => path) }
      const answer = await ask(agent, 'credentials.commit', request, signal).catch(
        faultMapper('the credentials'),
      )
      return answer.left_out
    },
  }
}

/** Selects the files for a bundle: excludes the bundle itself, the template and files over the limits. */
export function bundled(files: readonly CredentialFile[]): CredentialFile[] {
  let remainingBytes = maxBundledBytes
  return files
    .filter(({ path, size }) => path !== bundleFile && path !== mcpTemplateFile && size <= maxCredentialBytes)
    .slice(0, maxCredentialFiles)
    .filter(({ size }) => {
      remainingBytes -= size
      return remainingBytes >= 0
    })
}

export const bundleBytes = maxBundleBytes

function faultMapper(path: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof LinkFault)) throw error
    const name = formatName(path)
    switch (error.code) {
      case 'file_not_found':
        throw new Fault('file_not_found', `There is no "${name}".`, {}, { cause: error })
      case 'protected_path':
        throw new Fault(
          'credential_path_refused',
          `"${name}" points outside its folder.`,
          {},
          { cause: error },
        )
      case 'unknown_message':
      case 'invalid_message':
        throw new Fault('agent_unresponsive', 'The agent does not know this operation.', {}, { cause: error })
      default:
        throw new Fault('conflict', `The workspace refused "${name}".`, {}, { cause: error })
    }
  }
}
