import { fileChunkBytes } from '@roost/contracts/link/messages'
import type { Agent } from '../../agents/records/index.ts'
import type { CallAgent } from '../../agents/rpc/index.ts'
import { Fault } from '../../kit/fault.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'

type Called = Pick<Agent, 'id' | 'name' | 'status'>

/** The tar archive of a workspace, in chunks over the link. */
export type WorkspaceExport = {
  pieces: AsyncGenerator<Buffer>
  /** Number of files that the agent could not read; known at the end. */
  unreadable(): number
  /** Ends the export; does nothing after its end. Never throws. */
  close(): Promise<void>
}

export type WorkspaceImport = {
  write(bytes: Buffer): Promise<void>
  /** Resolves when everything is unpacked. */
  commit(): Promise<void>
  /** Ends the import; does nothing after `commit`. Never throws. */
  close(): Promise<void>
}

/** Throws before the first piece if the agent cannot export. */
export async function openExport(
  ask: CallAgent,
  agent: Called,
  withCredentials: boolean,
  signal: AbortSignal,
): Promise<WorkspaceExport> {
  const opened = await ask(agent, 'fs.export_open', { with_credentials: withCredentials }, signal).catch(
    asFault,
  )
  const { handle } = opened
  let unreadable = 0
  let isOver = false
  const close = async () => {
    if (!isOver) await ask(agent, 'fs.transfer_close', { handle }).catch(() => {})
  }

  async function* pieces(): AsyncGenerator<Buffer> {
    const read = (offset: number) => {
      const next = ask(agent, 'fs.export_read', { handle, offset }, signal).catch(asFault)
      next.catch(() => {})
      return next
    }
    let pending = read(0)
    for (let offset = 0; !isOver; ) {
      const answer = await pending
      const bytes = Buffer.from(answer.data_base64, 'base64')
      offset += bytes.length
      isOver = answer.eof
      unreadable = answer.unreadable
      if (!isOver && bytes.length === 0) throw new Error('The agent sent an empty chunk.')
      // One chunk is fetched while the one before is sent.
      if (!isOver) pending = read(offset)
      if (bytes.length > 0) yield bytes
    }
  }
  return { pieces: pieces(), unreadable: () => unreadable, close }
}

export async function openImport(
  ask: CallAgent,
  agent: Called,
  signal: AbortSignal,
): Promise<WorkspaceImport> {
  const { handle } = await ask(agent, 'fs.import_open', {}, signal).catch(asFault)
  const chunk = Buffer.allocUnsafe(fileChunkBytes)
  let filled = 0
  let offset = 0
  let isOver = false

  async function send(): Promise<void> {
    if (filled === 0) return
    const data_base64 = chunk.toString('base64', 0, filled)
    await ask(agent, 'fs.import_write', { handle, offset, data_base64 }, signal).catch(asFault)
    offset += filled
    filled = 0
  }

  return {
    async write(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const copied = bytes.copy(chunk, filled, at)
        at += copied
        filled += copied
        if (filled === chunk.length) await send()
      }
    },
    async commit() {
      await send()
      await ask(agent, 'fs.import_commit', { handle }, signal).catch(asFault)
      isOver = true
    },
    async close() {
      if (!isOver) await ask(agent, 'fs.transfer_close', { handle }).catch(() => {})
    },
  }
}

function asFault(error: unknown): never {
  if (!(error instanceof LinkFault)) throw error
  if (error.code === 'unknown_message') {
    throw new Fault('agent_program_outdated', undefined, {}, { cause: error })
  }
  const detail = `The workspace reports: ${error.message.slice(0, 500).replaceAll(/\p{Cc}/gu, ' ')}`
  throw new Fault('conflict', detail, {}, { cause: error })
}
