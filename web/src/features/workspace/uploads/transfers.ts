import { pauseMs, stepAfter, UnreadableFile } from './after-fault.ts'

/** Bytes per request. After a lost connection at most this much is sent again. */
export const partBytes = 2 * 1024 * 1024
const maxConcurrent = 2

/** `offline`: the connection was lost; the transfer resumes automatically. */
export type TransferState = 'waiting' | 'sending' | 'offline' | 'done' | 'failed' | 'cancelled'

/** A file on its way into the workspace of an agent. Immutable. */
export type Transfer = {
  id: string
  agent: string
  /** In the workspace, relative to its root. */
  path: string
  size: number
  /** Bytes that the agent has confirmed. */
  sent: number
  state: TransferState
  /** Why it failed; null otherwise. */
  fault: unknown
}

export type TransferFile = Pick<File, 'size' | 'slice'>

export type SentPart = Pick<Transfer, 'id' | 'agent' | 'path'> & {
  offset: number
  bytes: Uint8Array<ArrayBuffer>
  isLast: boolean
  signal: AbortSignal
}

export type TransfersDeps = {
  send(part: SentPart): Promise<void>
  /** Waits for the time and a connection, or until the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** `isIdle`: the agent has no other open transfer. */
  onStored(transfer: Transfer, isIdle: boolean): void
}

export type Transfers = ReturnType<typeof createTransfers>

/** Sends files to workspaces in parts: a few at a time, and on after a lost connection. */
export function createTransfers(deps: TransfersDeps) {
  const listeners = new Set<() => void>()
  const files = new Map<string, TransferFile>()
  const running = new Map<string, AbortController>()
  let transfers: readonly Transfer[] = []

  function set(next: readonly Transfer[]): void {
    transfers = next
    for (const listener of [...listeners]) listener()
  }
  const change = (id: string, part: Partial<Transfer>) =>
    set(transfers.map((transfer) => (transfer.id === id ? { ...transfer, ...part } : transfer)))
  const find = (id: string) => transfers.find((transfer) => transfer.id === id)

  function fill(): void {
    const waiting = transfers.filter(({ state }) => state === 'waiting')
    for (const { id } of waiting.slice(0, maxConcurrent - running.size)) void run(id)
  }

  async function run(id: string): Promise<void> {
    const stop = new AbortController()
    running.set(id, stop)
    change(id, { state: 'sending', fault: null })
    try {
      await sendFile(id, stop.signal)
      files.delete(id)
      change(id, { state: 'done' })
    } catch (error) {
      change(id, stop.signal.aborted ? { state: 'cancelled' } : { state: 'failed', fault: error })
    }
    running.delete(id)
    const ended = find(id)
    if (ended?.state === 'done') {
      deps.onStored(ended, !transfers.some((other) => other.agent === ended.agent && isOpen(other)))
    }
    fill()
  }

  async function sendFile(id: string, signal: AbortSignal): Promise<void> {
    const file = files.get(id)
    let retries = 0
    let restarts = 0
    for (;;) {
      const transfer = find(id)
      if (!file || !transfer) return
      const { agent, path, sent: offset } = transfer
      const end = Math.min(offset + partBytes, file.size)
      const isLast = end === file.size
      try {
        const bytes = await read(file, offset, end)
        signal.throwIfAborted()
        await deps.send({ id, agent, path, offset, bytes, isLast, signal })
        change(id, { sent: end, state: 'sending' })
        if (isLast) return
        retries = 0
      } catch (error) {
        signal.throwIfAborted()
        const step = stepAfter(error, { retries, restarts })
        if (step === 'fail') throw error
        if (step === 'restart') {
          restarts += 1
          change(id, { sent: 0, state: 'sending' })
          continue
        }
        change(id, { state: 'offline' })
        await deps.pause(pauseMs(retries), signal)
        signal.throwIfAborted()
        retries += 1
      }
    }
  }

  function remove(isRemoved: (transfer: Transfer) => boolean): void {
    for (const { id } of transfers.filter(isRemoved)) {
      running.get(id)?.abort()
      files.delete(id)
    }
    set(transfers.filter((transfer) => !isRemoved(transfer)))
  }

  return {
    current: () => transfers,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    add(agent: string, added: readonly { id: string; path: string; file: TransferFile }[]): void {
      for (const { id, file } of added) files.set(id, file)
      set([
        ...transfers,
        ...added.map(({ id, path, file }) => ({
          ...{ id, agent, path, size: file.size, sent: 0 },
          ...{ state: 'waiting' as const, fault: null },
        })),
      ])
      fill()
    },
    /** The agent deletes the parts by itself. */
    cancel(id: string): void {
      if (running.has(id)) running.get(id)?.abort()
      else if (find(id)?.state === 'waiting') change(id, { state: 'cancelled' })
    },
    /** Continues after the last confirmed part. */
    retry(id: string): void {
      const state = find(id)?.state
      if (state !== 'failed' && state !== 'cancelled') return
      change(id, { state: 'waiting', fault: null })
      fill()
    },
    /** Removes them from the list; open ones are cancelled. */
    remove: (ids: ReadonlySet<string>) => remove(({ id }) => ids.has(id)),
    clearEnded: (agent: string) => remove((transfer) => transfer.agent === agent && !isOpen(transfer)),
    /** Resolves when all of them are done, failed, cancelled or removed. */
    async ended(ids: readonly string[]): Promise<readonly Transfer[]> {
      const among = new Set(ids)
      const { promise, resolve } = Promise.withResolvers<readonly Transfer[]>()
      const look = () => {
        const these = transfers.filter(({ id }) => among.has(id))
        if (!these.some(isOpen)) resolve(these)
      }
      listeners.add(look)
      look()
      return promise.finally(() => listeners.delete(look))
    },
  }
}

/** Still on its way. */
export function isOpen({ state }: Transfer): boolean {
  return state === 'waiting' || state === 'sending' || state === 'offline'
}

async function read(file: TransferFile, from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await file.slice(from, to).arrayBuffer())
  } catch (error) {
    throw new UnreadableFile(error)
  }
}
