import { terminalPath } from '@roost/contracts/agents/terminal'
import type { Client } from '@roost/contracts/client'
import { createSocketTicket } from '@roost/contracts/operations/sockets'

export type Shell = {
  type(bytes: Uint8Array): void
  resize(cols: number, rows: number): void
  close(): void
}

export type ShellEvents = {
  output(bytes: Uint8Array): void
  open(): void
  /** Called once, however the shell ended, but not after `close`. `error`: the shell did not start. */
  ended(end: { code: number; reason: string } | { error: unknown }): void
}

/** Well below the platform's limit for one message. */
const pieceBytes = 32 * 1024

/** Opens one shell of an agent. Input before the connection is ready is lost, except for the last size. */
export function openShell(api: Client, agentName: string, on: ShellEvents): Shell {
  let socket: WebSocket | null = null
  let isClosed = false
  let size: string | null = null

  function sendSize(): void {
    if (size !== null && socket?.readyState === WebSocket.OPEN) socket.send(size)
  }

  async function dial(): Promise<void> {
    const { ticket } = await api.call(createSocketTicket, {})
    if (isClosed) return
    const path = terminalPath.replace('{name}', encodeURIComponent(agentName))
    const dialled = new WebSocket(
      `${location.origin.replace(/^http/, 'ws')}${path}?${new URLSearchParams({ ticket })}`,
    )
    socket = dialled
    dialled.binaryType = 'arraybuffer'
    dialled.addEventListener('open', () => {
      sendSize()
      if (!isClosed) on.open()
    })
    dialled.addEventListener('message', ({ data }) => {
      if (!isClosed && data instanceof ArrayBuffer) on.output(new Uint8Array(data))
    })
    dialled.addEventListener('close', ({ code, reason }) => {
      if (!isClosed) on.ended({ code, reason })
    })
  }

  dial().catch((error: unknown) => {
    if (!isClosed) on.ended({ error })
  })

  return {
    type(bytes) {
      if (socket?.readyState !== WebSocket.OPEN) return
      for (let at = 0; at < bytes.length; at += pieceBytes) socket.send(bytes.slice(at, at + pieceBytes))
    },
    resize(cols, rows) {
      size = JSON.stringify({ type: 'resize', cols, rows })
      sendSize()
    },
    close() {
      isClosed = true
      socket?.close(1000)
    },
  }
}
