import type { VoiceEndReason } from '@roost/contracts/conversations/voice'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import type { LiveCall } from './live-call.ts'

const topic = 'voice-calls'

/** The calls that this process carries, and the channel through which other processes end them. */
export function createLiveCalls({
  ephemeral,
  log,
}: {
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  log: Log
}) {
  const calls = new Map<string, { agentId: string; call: LiveCall }>()
  let subscription: { close(): Promise<void> } | null = null

  function endHere(id: string, reason: VoiceEndReason): Promise<void> | null {
    const found = calls.get(id)
    found?.call.end(reason)
    return found?.call.done ?? null
  }

  return {
    async open(): Promise<void> {
      subscription = await ephemeral.subscribe(topic, (message) => {
        // Published only below, so the shape is known.
        const { id, reason } = JSON.parse(message) as { id: string; reason: VoiceEndReason }
        void endHere(id, reason)
      })
    },

    add(id: string, agentId: string, call: LiveCall): void {
      calls.set(id, { agentId, call })
      void call.done.finally(() => calls.delete(id))
    },

    requestEnd(id: string, reason: VoiceEndReason): Promise<void> | null {
      const ended = endHere(id, reason)
      if (ended) return ended
      // Fails open: the caller polls the row, and the call ends by its time limit.
      ephemeral
        .publish(topic, JSON.stringify({ id, reason }))
        .catch((error: unknown) =>
          log.warn({ err: error, call_id: id }, 'the end of a call was not passed on'),
        )
      return null
    },

    endCallsOfAgent(agentId: string): void {
      for (const live of calls.values()) if (live.agentId === agentId) live.call.end('agent_deleted')
    },

    /** Ends all calls; resolves when their lines are stored. */
    async close(): Promise<void> {
      const all = [...calls.values()]
      for (const { call } of all) call.end('platform_stopping')
      await Promise.all(all.map(({ call }) => call.done))
      await subscription?.close()
    },
  }
}
