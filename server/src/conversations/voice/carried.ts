import type { VoiceEndReason } from '@roost/contracts/conversations/voice'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import type { LiveCall } from './live-call.ts'

const topic = 'voice-calls'

/** The calls that this process carries, and how others ask it to end one. */
export function createCarried({
  ephemeral,
  log,
}: {
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  log: Log
}) {
  const carried = new Map<string, { agentId: string; call: LiveCall }>()
  let subscription: { close(): Promise<void> } | null = null

  function endHere(id: string, reason: VoiceEndReason): Promise<void> | null {
    const found = carried.get(id)
    found?.call.end(reason)
    return found?.call.done ?? null
  }

  return {
    async open(): Promise<void> {
      subscription = await ephemeral.subscribe(topic, (message) => {
        // Published below and nowhere else.
        const { id, reason } = JSON.parse(message) as { id: string; reason: VoiceEndReason }
        void endHere(id, reason)
      })
    },

    add(id: string, agentId: string, call: LiveCall): void {
      carried.set(id, { agentId, call })
      void call.done.finally(() => carried.delete(id))
    },

    askToEnd(id: string, reason: VoiceEndReason): Promise<void> | null {
      const here = endHere(id, reason)
      if (here) return here
      // Fails open: who asked looks at the row, and the call ends by its time.
      ephemeral
        .publish(topic, JSON.stringify({ id, reason }))
        .catch((error: unknown) =>
          log.warn({ err: error, call_id: id }, 'the end of a call was not passed on'),
        )
      return null
    },

    endOfAgent(agentId: string): void {
      for (const carrying of carried.values())
        if (carrying.agentId === agentId) carrying.call.end('agent_deleted')
    },

    /** Ends all of them; resolves when everything said is kept. */
    async close(): Promise<void> {
      const all = [...carried.values()]
      for (const { call } of all) call.end('platform_stopping')
      await Promise.all(all.map(({ call }) => call.done))
      await subscription?.close()
    },
  }
}
