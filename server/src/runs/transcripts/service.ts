import { z } from 'zod'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import {
  createOpenPieces,
  type PartialText,
  type PieceKind,
  type PlacedPiece,
  pieceKinds,
} from './open-pieces.ts'

export type LiveListener = {
  /** Lines were stored or the record changed: read again. May be called more often than needed. */
  changed(): void
  partial?(piece: PlacedPiece): void
}

/**
 * Notifies the readers of a run, in this and other processes. Notices carry no transcript: readers query the
 * store, so a lost notice delays a line but never loses it.
 */
export type Live = {
  open(): Promise<void>
  /** Call after the commit. */
  changed(executionId: string): void
  partial(executionId: string, partial: PartialText): void
  /** Blocks of these kinds (default: all) are complete or abandoned; later pieces start new blocks. */
  closed(executionId: string, kinds?: readonly PieceKind[]): void
  /** The blocks being written, if they are known from their start. */
  openPieces(executionId: string): PlacedPiece[]
  listen(executionId: string, listener: LiveListener): () => void
  close(): Promise<void>
}

export function createLive(deps: { ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>; log: Log }): Live {
  const { ephemeral, log } = deps
  const processId = newId()
  const listeners = new Map<string, Set<LiveListener>>()
  const open = createOpenPieces()
  let subscription: { close(): Promise<void> } | null = null

  function notifyChanged(executionId: string): void {
    for (const listener of listeners.get(executionId) ?? []) listener.changed()
  }

  function notifyPartial(executionId: string, piece: PlacedPiece): void {
    for (const listener of listeners.get(executionId) ?? []) listener.partial?.(piece)
  }

  function publish(notice: Notice): void {
    ephemeral.publish(topic, JSON.stringify(notice)).catch((error: unknown) => {
      // Fails open: readers in other processes poll every few seconds.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'notice of a run not sent')
    })
  }

  function receive(text: string): void {
    try {
      const notice = Notice.safeParse(JSON.parse(text))
      if (notice.success && notice.data.from !== processId) handle(notice.data)
    } catch {
      // Another version of the platform may send notices this one cannot parse; readers poll anyway.
    }
  }

  function handle({ id, partial, closed }: Notice): void {
    if (closed) open.close(id, closed)
    else if (!partial) notifyChanged(id)
    else {
      open.add(id, partial)
      notifyPartial(id, partial)
    }
  }

  function notifyAll(): void {
    for (const executionId of listeners.keys()) notifyChanged(executionId)
  }

  return {
    async open() {
      subscription = await ephemeral.subscribe(topic, receive, notifyAll)
    },
    changed(executionId) {
      notifyChanged(executionId)
      publish({ from: processId, id: executionId })
    },
    partial(executionId, partial) {
      const piece = open.next(executionId, partial)
      notifyPartial(executionId, piece)
      publish({ from: processId, id: executionId, partial: piece })
    },
    closed(executionId, kinds = pieceKinds) {
      if (kinds.length === 0 || !open.close(executionId, kinds)) return
      publish({ from: processId, id: executionId, closed: [...kinds] })
    },
    openPieces: open.of,
    listen(executionId, listener) {
      const registered = listeners.get(executionId) ?? new Set()
      registered.add(listener)
      listeners.set(executionId, registered)
      return () => {
        registered.delete(listener)
        if (registered.size === 0 && listeners.get(executionId) === registered) listeners.delete(executionId)
      }
    },
    async close() {
      await subscription?.close()
    },
  }
}

const topic = 'executions'
const Kind = z.enum(['text', 'thinking'])
const Notice = z.object({
  from: z.string(),
  id: z.string(),
  partial: z
    .object({ type: z.literal('partial'), kind: Kind, text: z.string(), at: z.number().int().min(0) })
    .optional(),
  closed: z.array(Kind).optional(),
})
type Notice = z.infer<typeof Notice>
