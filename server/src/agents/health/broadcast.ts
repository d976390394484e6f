import { randomUUID } from 'node:crypto'
import type { Heartbeat } from '@roost/contracts/agents/health'
import type { OwnUse } from '@roost/contracts/link/messages'
import type { ContainerSample } from '../../ports/containers/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'

/** A heartbeat over HTTP has no `use`. */
export type AnyBeat = Heartbeat & { use?: OwnUse }

/** Health data that one process receives and the others store too. */
export type HealthMessage =
  | { kind: 'beat'; agent_id: string; beat: AnyBeat }
  | { kind: 'samples'; samples: Record<string, ContainerSample> }

export type Broadcast = {
  /**
   * Sends to the other processes; the sender has stored the data itself. Lost messages are replaced by the
   * next.
   */
  send(message: HealthMessage): void
  on<K extends HealthMessage['kind']>(
    kind: K,
    listener: (news: Extract<HealthMessage, { kind: K }>) => void,
  ): void
  open(): Promise<void>
  close(): Promise<void>
}

const topic = 'agents.health'

export function createBroadcast(ephemeral: Pick<Ephemeral, 'kind' | 'publish' | 'subscribe'>): Broadcast {
  const origin = randomUUID()
  const listeners: { [K in HealthMessage['kind']]: ((news: Extract<HealthMessage, { kind: K }>) => void)[] } =
    {
      beat: [],
      samples: [],
    }
  let subscription: { close(): Promise<void> } | null = null

  function receive(message: string): void {
    // Only this platform's processes write to the topic, always in this shape.
    const { from, news } = JSON.parse(message) as { from: string; news: HealthMessage }
    if (from === origin) return
    if (news.kind === 'beat') for (const listener of listeners.beat) listener(news)
    if (news.kind === 'samples') for (const listener of listeners.samples) listener(news)
  }

  return {
    send(news) {
      // Memory means a single process: there are no receivers.
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
