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
  /** Lines were stored or the record has changed: look again. May come more often than needed. */
  changed(): void
  partial?(piece: PlacedPiece): void
}

/**
 * Tells the readers of a run, in this process and in others, that there is something new. It carries no
 * transcript: a reader looks into the store, so a lost notice costs time and never a line.
 */
export type Live = {
  open(): Promise<void>
  /** Call after the commit. */
  changed(executionId: string): void
  partial(executionId: string, partial: PartialText): void
  /** The blocks of these kinds (of all) come as lines now, or never; what follows belongs to others. */
  closed(executionId: string, kinds?: readonly PieceKind[]): void
  /** The blocks that are being written, as far as they are known from their beginning. */
  openPieces(executionId: string): PlacedPiece[]
  listen(executionId: string, listener: LiveListener): () => void
  close(): Promise<void>
}

export function createLive(deps: { ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>; log: Log }): Live {
  const { ephemeral, log } = deps
  const me = newId()
  const listeners = new Map<string, Set<LiveListener>>()
  const open = createOpenPieces()
  let subscription: { close(): Promise<void> } | null = null

  function tellChanged(executionId: string): void {
    for (const listener of listeners.get(executionId) ?? []) listener.changed()
  }

  function tellPiece(executionId: string, piece: PlacedPiece): void {
    for (const listener of listeners.get(executionId) ?? []) listener.partial?.(piece)
  }

  function publish(notice: Notice): void {
    ephemeral.publish(topic, JSON.stringify(notice)).catch((error: unknown) => {
      // Fails open: readers in other processes look again by themselves every few seconds.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'notice of a run not sent')
    })
  }

  function receive(text: string): void {
    try {
      const notice = Notice.safeParse(JSON.parse(text))
      if (notice.success && notice.data.from !== me) take(notice.data)
    } catch {
      // Another version of the platform may say what this one cannot read; readers look again anyhow.
    }
  }

  function take({ id, partial, closed }: Notice): void {
    if (closed) open.close(id, closed)
    else if (!partial) tellChanged(id)
    else {
      open.add(id, partial)
      tellPiece(id, partial)
    }
  }

  function everythingMayHaveChanged(): void {
    for (const executionId of listeners.keys()) tellChanged(executionId)
  }

  return {
    async open() {
      subscription = await ephemeral.subscribe(topic, receive, everythingMayHaveChanged)
    },
    changed(executionId) {
      tellChanged(executionId)
      publish({ from: me, id: executionId })
    },
    partial(executionId, partial) {
      const piece = open.next(executionId, partial)
      tellPiece(executionId, piece)
      publish({ from: me, id: executionId, partial: piece })
    },
    closed(executionId, kinds = pieceKinds) {
      if (kinds.length === 0 || !open.close(executionId, kinds)) return
      publish({ from: me, id: executionId, closed: [...kinds] })
    },
    openPieces: open.of,
    listen(executionId, listener) {
      const present = listeners.get(executionId) ?? new Set()
      present.add(listener)
      listeners.set(executionId, present)
      return () => {
        present.delete(listener)
        if (present.size === 0 && listeners.get(executionId) === present) listeners.delete(executionId)
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
