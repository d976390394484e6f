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

export function createLive(deps: {
  ephemeral: Pick<Ephemeral, 'kind' | 'publish' | 'subscribe'>
  log: Log
}): Live {
  const { ephemeral, log } = deps
  const processId = newId()
  const listeners = new Map<string, Listeners>()
  /** A store in memory is not shared, so nobody else would listen. */
  const isShared = ephemeral.kind !== 'memory'
  const open = createOpenPieces()
  let subscription: { close(): Promise<void> } | null = null

  function notifyChanged(executionId: string): void {
    for (const listener of listeners.get(executionId)?.own ?? []) listener.changed()
  }

  function notifyPartial(executionId: string, piece: PlacedPiece): void {
    for (const listener of listeners.get(executionId)?.own ?? []) listener.partial?.(piece)
  }

  /** Most runs are followed by nobody: only processes that follow this one receive its messages. */
  async function subscribeTo(executionId: string): Promise<{ close(): Promise<void> } | null> {
    const changed = () => notifyChanged(executionId)
    const onMessage = (from: string) => {
      if (from !== processId) changed()
    }
    try {
      const subscribed = await ephemeral.subscribe(changesOf(executionId), onMessage, changed)
      // A message before the subscription was missed.
      changed()
      return subscribed
    } catch (error) {
      // Fails open: readers poll every few seconds.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'the topic of a run is not subscribed')
      return null
    }
  }

  function publish(to: string, message: string): void {
    if (!isShared) return
    ephemeral.publish(to, message).catch((error: unknown) => {
      // Fails open: readers in other processes poll every few seconds.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'notice of a run not sent')
    })
  }

  function publishNotice(notice: Notice): void {
    publish(topic, JSON.stringify(notice))
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
      publish(changesOf(executionId), processId)
    },
    partial(executionId, partial) {
      const piece = open.next(executionId, partial)
      notifyPartial(executionId, piece)
      publishNotice({ from: processId, id: executionId, partial: piece })
    },
    closed(executionId, kinds = pieceKinds) {
      if (kinds.length === 0 || !open.close(executionId, kinds)) return
      publishNotice({ from: processId, id: executionId, closed: [...kinds] })
    },
    openPieces: open.of,
    listen(executionId, listener) {
      const registered = listeners.get(executionId) ?? {
        own: new Set(),
        subscription: isShared ? subscribeTo(executionId) : Promise.resolve(null),
      }
      registered.own.add(listener)
      listeners.set(executionId, registered)
      return () => {
        registered.own.delete(listener)
        if (registered.own.size > 0 || listeners.get(executionId) !== registered) return
        listeners.delete(executionId)
        void registered.subscription.then((subscribed) => subscribed?.close())
      }
    },
    async close() {
      await subscription?.close()
    },
  }
}

/** The readers of a run in this process, and the messages of the others. */
type Listeners = { own: Set<LiveListener>; subscription: Promise<{ close(): Promise<void> } | null> }

/** Pieces of answers, for every process: a later reader needs those that it did not see. */
const topic = 'executions'
const changesOf = (executionId: string) => `executions:${executionId}`
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
