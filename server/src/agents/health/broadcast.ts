import { randomUUID } from 'node:crypto'
import type { Heartbeat } from '@roost/contracts/agents/health'
import type { ContainerSample } from '../../ports/containers/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'

/** News of health that one process has and the others keep too. */
export type News =
  | { kind: 'beat'; agent_id: string; beat: Heartbeat }
  | { kind: 'samples'; samples: Record<string, ContainerSample> }

export type Broadcast = {
  /** To the other processes; whoever sends has kept it already. Lost news is replaced by the next. */
  send(news: News): void
  on<K extends News['kind']>(kind: K, listener: (news: Extract<News, { kind: K }>) => void): void
  open(): Promise<void>
  close(): Promise<void>
}

const topic = 'agents.health'

export function createBroadcast(ephemeral: Pick<Ephemeral, 'kind' | 'publish' | 'subscribe'>): Broadcast {
  const origin = randomUUID()
  const listeners: { [K in News['kind']]: ((news: Extract<News, { kind: K }>) => void)[] } = {
    beat: [],
    samples: [],
  }
  let subscription: { close(): Promise<void> } | null = null

  function receive(message: string): void {
    // Only processes of this platform write to the topic, each in this shape.
    const { from, news } = JSON.parse(message) as { from: string; news: News }
    if (from === origin) return
    if (news.kind === 'beat') for (const listener of listeners.beat) listener(news)
    if (news.kind === 'samples') for (const listener of listeners.samples) listener(news)
  }

  return {
    send(news) {
      // In memory there is nobody else to tell.
      if (ephemeral.kind === 'memory') return
      ephemeral.publish(topic, JSON.stringify({ from: origin, news })).catch(() => {})
    },
    on(kind, listener) {
      listeners[kind].push(listener)
    },
    async open() {
      if (ephemeral.kind !== 'memory') subscription = await ephemeral.subscribe(topic, receive)
    },
    async close() {
      await subscription?.close()
      subscription = null
    },
  }
}
