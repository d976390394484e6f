import { type PieceKind, pieceKinds } from '@roost/contracts/link/transcript'
import { z } from 'zod'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import { createOpenPieces, type PartialText, type PlacedPiece } from './open-pieces.ts'

export type LiveListener = {
  /** Lines were stored or the record changed: read again. May be called more often than needed. */
  changed(): void
  partial?(piece: PlacedPiece): void
  /** A block that was already being written, from its start. Comes when another process has sent it. */
  joined?(piece: PlacedPiece): void
}

/**
 * Notifies the readers of a run, in this and other processes. Notices carry no transcript: readers query the
 * store, so a lost notice delays a line but never loses it.
 */
export type Live = {
  open(): Promise<void>
  /** Call after the commit. */
  changed(executionId: string): void
  /** The run has ended; call after the commit. Followers are notified too. */
  ended(executionId: string): void
  /** `at`: characters of the block before this piece, if the agent counts them. */
  partial(executionId: string, partial: PartialText, at?: number): void
  /** Blocks of these kinds (default: all) are complete or abandoned; later pieces start new blocks. */
  closed(executionId: string, kinds?: readonly PieceKind[]): void
  /** The blocks being written, if they are known from their start. */
  openPieces(executionId: string): PlacedPiece[]
  listen(executionId: string, listener: LiveListener): () => void
  /**
   * Calls `listener` as soon as no end can be missed, and when the run ends: read the record each time. May be called
   * more often than needed.
   */
  listenForEnd(executionId: string, listener: () => void): () => void
  close(): Promise<void>
}

export function createLive(deps: {
  ephemeral: Pick<Ephemeral, 'kind' | 'publish' | 'subscribe'>
  log: Log
}): Live {
  const { ephemeral, log } = deps
  const processId = newId()
  const listeners = new Map<string, Listeners>()
  const endListeners = new Map<string, EndListeners>()
  /** A store in memory is not shared, so nobody else would listen. */
  const isShared = ephemeral.kind !== 'memory'
  const open = createOpenPieces()
  let subscription: Subscription = null

  function notifyChanged(executionId: string): void {
    for (const listener of listeners.get(executionId)?.own ?? []) listener.changed()
  }

  function notifyEnded(executionId: string): void {
    for (const listener of endListeners.get(executionId)?.own ?? []) listener()
  }

  function notifyPartial(executionId: string, piece: PlacedPiece): void {
    for (const listener of listeners.get(executionId)?.own ?? []) listener.partial?.(piece)
  }

  /** Most runs are followed by nobody: only processes that follow this one receive its messages. */
  async function subscribeTo(
    topic: string,
    onMessage: (text: string) => void,
    onGap: () => void,
  ): Promise<Subscription> {
    if (!isShared) return null
    try {
      return await ephemeral.subscribe(topic, onMessage, onGap)
    } catch (error) {
      // Fails open: readers poll every few seconds.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'the topic of a run is not subscribed')
      return null
    }
  }

  async function follow(executionId: string): Promise<Subscription> {
    const onGap = () => {
      notifyChanged(executionId)
      requestOpen(executionId)
    }
    const subscribed = await subscribeTo(topicOf(executionId), receive, onGap)
    // A message before the subscription was missed.
    if (subscribed) notifyChanged(executionId)
    return subscribed
  }

  function addEndListener(executionId: string, listener: () => void) {
    const notify = () => notifyEnded(executionId)
    const receiveEnd = (from: string) => from !== processId && notify()
    const registered = endListeners.get(executionId) ?? {
      own: new Set(),
      subscription: subscribeTo(endTopicOf(executionId), receiveEnd, notify),
    }
    registered.own.add(listener)
    endListeners.set(executionId, registered)
    const remove = () => {
      registered.own.delete(listener)
      if (registered.own.size > 0 || endListeners.get(executionId) !== registered) return
      endListeners.delete(executionId)
      void registered.subscription.then((subscribed) => subscribed?.close())
    }
    return { subscription: registered.subscription, remove }
  }

  function publish(to: string, notice: Omit<Notice, 'from'>): void {
    if (isShared) send(to, JSON.stringify({ from: processId, ...notice }))
  }

  function send(to: string, text: string): void {
    ephemeral.publish(to, text).catch((error: unknown) => {
      // Fails open: readers in other processes poll every few seconds.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'notice of a run not sent')
    })
  }

  /** Its pieces went only to the processes that followed the run then. */
  function requestOpen(executionId: string): void {
    if (open.isSource(executionId)) return
    const isWanted = [...(listeners.get(executionId)?.own ?? [])].some(({ joined }) => joined)
    if (isWanted) publish(allTopic, { id: executionId, wantsOpen: true })
  }

  function receive(text: string): void {
    try {
      const notice = Notice.safeParse(JSON.parse(text))
      if (notice.success && notice.data.from !== processId) handle(notice.data)
    } catch {
      // Another version of the platform may send notices this one cannot parse; readers poll anyway.
    }
  }

  function handle({ from, id, partial, closed, wantsOpen, open: blocks, to }: Notice): void {
    if (wantsOpen) {
      const own = open.isSource(id) ? open.of(id) : []
      if (own.length > 0) publish(topicOf(id), { id, to: from, open: own })
      return
    }
    // Without a reader, nobody would remove the blocks.
    if (!listeners.has(id)) return
    if (closed) open.close(id, closed)
    else if (partial) {
      open.add(id, partial)
      notifyPartial(id, partial)
    } else if (blocks) {
      if (to === processId) join(id, blocks)
    } else notifyChanged(id)
  }

  /** Blocks that began after the subscription are known. */
  function join(executionId: string, blocks: readonly PlacedPiece[]): void {
    const known = open.of(executionId).map(({ kind }) => kind)
    for (const block of blocks) {
      if (known.includes(block.kind)) continue
      open.add(executionId, block)
      for (const listener of listeners.get(executionId)?.own ?? []) listener.joined?.(block)
    }
  }

  function notifyAll(): void {
    for (const executionId of listeners.keys()) notifyChanged(executionId)
  }

  return {
    async open() {
      subscription = await ephemeral.subscribe(allTopic, receive, notifyAll)
    },
    changed(executionId) {
      notifyChanged(executionId)
      publish(topicOf(executionId), { id: executionId })
    },
    ended(executionId) {
      notifyEnded(executionId)
      if (isShared) send(endTopicOf(executionId), processId)
    },
    partial(executionId, partial, at) {
      const piece = open.next(executionId, partial, at)
      notifyPartial(executionId, piece)
      publish(topicOf(executionId), { id: executionId, partial: piece })
    },
    closed(executionId, kinds = pieceKinds) {
      if (kinds.length === 0 || !open.close(executionId, kinds)) return
      publish(topicOf(executionId), { id: executionId, closed: [...kinds] })
    },
    openPieces: open.of,
    listen(executionId, listener) {
      // Subscribed first, so that `follow` notices an end before both subscriptions.
      const end = addEndListener(executionId, () => listener.changed())
      const registered = listeners.get(executionId) ?? { own: new Set(), subscription: follow(executionId) }
      registered.own.add(listener)
      listeners.set(executionId, registered)
      if (listener.joined) void registered.subscription.then(() => requestOpen(executionId))
      return () => {
        end.remove()
        registered.own.delete(listener)
        if (registered.own.size > 0 || listeners.get(executionId) !== registered) return
        listeners.delete(executionId)
        if (!open.isSource(executionId)) open.remove(executionId)
        void registered.subscription.then((subscribed) => subscribed?.close())
      }
    },
    listenForEnd(executionId, listener) {
      const end = addEndListener(executionId, listener)
      void end.subscription.then(listener)
      return end.remove
    },
    async close() {
      await subscription?.close()
    },
  }
}

/** Null without a shared store, or while it cannot be reached. */
type Subscription = { close(): Promise<void> } | null
/** The readers of a run in this process, and the messages of the others. */
type Listeners = { own: Set<LiveListener>; subscription: Promise<Subscription> }
type EndListeners = { own: Set<() => void>; subscription: Promise<Subscription> }

/** For every process: requests of a reader who joins in the middle of a block. */
const allTopic = 'executions'
/** Changes and pieces of one run, for the processes that follow it. */
const topicOf = (executionId: string) => `executions:${executionId}`
/** The end of one run. Its message is the id of the sending process. */
const endTopicOf = (executionId: string) => `executions:${executionId}:end`
const Kind = z.enum(pieceKinds)
const Piece = z.object({
  type: z.literal('partial'),
  kind: Kind,
  text: z.string(),
  at: z.number().int().min(0),
})
/** Without another field: something of the run has changed. */
const Notice = z.object({
  from: z.string(),
  id: z.string(),
  partial: Piece.optional(),
  closed: z.array(Kind).optional(),
  wantsOpen: z.literal(true).optional(),
  /** The answer to the process `to`. */
  open: z.array(Piece).optional(),
  to: z.string().optional(),
})
type Notice = z.infer<typeof Notice>
