import { z } from 'zod'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'

/** A piece of the answer that is being written; never stored. */
export type PartialText = { type: 'partial'; kind: 'text' | 'thinking'; text: string }

export type LiveListener = {
  /** Lines were stored or the record has changed: look again. May come more often than needed. */
  changed(): void
  partial?(partial: PartialText): void
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
  listen(executionId: string, listener: LiveListener): () => void
  close(): Promise<void>
}

export function createLive(deps: { ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>; log: Log }): Live {
  const { ephemeral, log } = deps
  const me = newId()
  const listeners = new Map<string, Set<LiveListener>>()
  let subscription: { close(): Promise<void> } | null = null

  function tell(executionId: string, partial: PartialText | undefined): void {
    for (const listener of listeners.get(executionId) ?? []) {
      if (partial) listener.partial?.(partial)
      else listener.changed()
    }
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
      if (notice.success && notice.data.from !== me) tell(notice.data.id, notice.data.partial)
    } catch {
      // Another version of the platform may say what this one cannot read; readers look again anyhow.
    }
  }

  function everythingMayHaveChanged(): void {
    for (const executionId of listeners.keys()) tell(executionId, undefined)
  }

  return {
    async open() {
      subscription = await ephemeral.subscribe(topic, receive, everythingMayHaveChanged)
    },
    changed(executionId) {
      tell(executionId, undefined)
      publish({ from: me, id: executionId })
    },
    partial(executionId, partial) {
      tell(executionId, partial)
      publish({ from: me, id: executionId, partial })
    },
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
const Notice = z.object({
  from: z.string(),
  id: z.string(),
  partial: z
    .object({ type: z.literal('partial'), kind: z.enum(['text', 'thinking']), text: z.string() })
    .optional(),
})
type Notice = z.infer<typeof Notice>
