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
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Agent } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { type CredentialBytes, shown } from './rules.ts'

type Asked = Pick<Agent, 'id' | 'name' | 'status'>
export type AgentFiles = {
  read(agent: Asked, path: string, mostBytes: number, signal?: AbortSignal): Promise<Buffer>
  write(agent: Asked, files: readonly CredentialBytes[], signal?: AbortSignal): Promise<LeftOutServer[]>
}

/** Credential files over the link, in pieces. Throws the faults of `ask`, and `conflict` for what the workspace refuses. */
export function createAgentFiles({ ask }: { ask: CallAgent }): AgentFiles {
  return {
    async read(agent, path, mostBytes, signal) {
      const pieces: Buffer[] = []
      for (let offset = 0; ; ) {
        const request = { path, offset, length: fileChunkBytes }
        const piece = await ask(agent, 'credentials.read', request, signal).catch(named(path))
        if (piece.size > mostBytes) throw new Fault('file_too_large', `"${shown(path)}" is too large.`)
        const bytes = Buffer.from(piece.data_base64, 'base64')
        offset += bytes.length
        // An agent that answers more than it announced is not listened to.
        if (offset > mostBytes) throw new Fault('file_too_large', `"${shown(path)}" is too large.`)
        pieces.push(bytes)
        if (piece.eof || bytes.length === 0) return Buffer.concat(pieces)
      }
    },

    async write(agent, files, signal) {
      const upload_id = newId()
      for (const { path, bytes } of files) {
        let offset = 0
        do {
          const chunk = bytes.subarray(offset, offset + fileChunkBytes)
          const request = { upload_id, path, offset, data_base64: chunk.toString('base64') }
          await ask(agent, 'credentials.write', request, signal).catch(named(path))
          offset += chunk.length
        } while (offset < bytes.length)
      }
      const request = { upload_id, paths: files.map(({ path }) => path) }
      const answer = await ask(agent, 'credentials.commit', request, signal).catch(named('the credentials'))
      return answer.left_out
    },
  }
}

/** Of the files that an agent has, those that a bundle holds: without the bundle, the template and what is too large. */
export function bundled(files: readonly CredentialFile[]): CredentialFile[] {
  let left = maxBundledBytes
  return files
    .filter(({ path, size }) => path !== bundleFile && path !== mcpTemplateFile && size <= maxCredentialBytes)
    .slice(0, maxCredentialFiles)
    .filter(({ size }) => {
      left -= size
      return left >= 0
    })
}

export const bundleBytes = maxBundleBytes

function named(path: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof LinkFault)) throw error
    const name = shown(path)
    switch (error.code) {
      case 'file_not_found':
        throw new Fault('file_not_found', `There is no "${name}".`, {}, { cause: error })
      case 'protected_path':
        throw new Fault('credential_path_refused', `"${name}" leads somewhere else.`, {}, { cause: error })
      case 'unknown_message':
      case 'invalid_message':
        throw new Fault('agent_unresponsive', 'The agent does not know this operation.', {}, { cause: error })
      default:
        throw new Fault('conflict', `The workspace refused "${name}".`, {}, { cause: error })
    }
  }
}
