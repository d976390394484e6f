import { maxCallSeconds } from '@roost/contracts/conversations/calls'
import { defaultVoice } from '@roost/contracts/conversations/voice'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import { type LiveVoice, VoiceDown, type VoicePort } from '../../ports/voice/port.ts'
import type { End } from './end.ts'
import { instructionsOf, type Outcome } from './rules.ts'
import type { MediaLine } from './sound.ts'
import { type CallRow, callStore } from './store.ts'
import { callTools, type Finish, type TalkDeps, talk } from './talk.ts'

export type CallSessionDeps = TalkDeps & {
  clock: Clock
  voice: VoicePort
  /** Null when the platform has no key. */
  voiceKey(): Secret | null
  /** The voice settings of the agent. */
  voiceOf(agentId: string): Promise<{ voice_name: string | null; prompt: string | null }>
  agentName(agentId: string): Promise<string | null>
  endings: Pick<End, 'end'>
}

/** Renewal interval. After `leaseSeconds` without renewal another process ends the call. */
const renewSeconds = 20
export const leaseSeconds = 60

/** Relays audio in both directions until the call ends, then ends its execution. */
export function createCallSession(deps: CallSessionDeps) {
  const { db, clock, log, endings } = deps
  const store = callStore(db)

  return async function carry(call: CallRow, media: MediaLine): Promise<void> {
    const ending = new AbortController()
    let outcome: { how: Outcome; detail: string | null } = { how: 'hung_up', detail: null }
    const finish: Finish = (how, detail = null) => {
      if (ending.signal.aborted) return
      outcome = { how, detail }
      ending.abort()
    }
    media.onEnd(finish)
    void clock.wait(maxCallSeconds * 1000, ending.signal).then(() => finish('time_over'))
    const renewing = renew(call, ending.signal, () => finish('hung_up'))
    try {
      const live = await open(call, ending.signal)
      await talk(deps, { call, live, media, signal: ending.signal, finish })
    } catch (error) {
      if (!(error instanceof VoiceDown)) log.error({ call_id: call.id, err: error }, 'a call was dropped')
      finish('voice_down', error instanceof VoiceDown ? error.message : null)
    } finally {
      ending.abort()
      media.close()
      await renewing
    }
    await endings.end(call.id, outcome.how, outcome.detail)
  }

  async function open(call: CallRow, signal: AbortSignal): Promise<LiveVoice> {
    const key = deps.voiceKey()
    if (key === null) throw new VoiceDown('The platform has no key of the voice provider.')
    const [voiceSettings, agentName] = await Promise.all([
      deps.voiceOf(call.agent_id),
      deps.agentName(call.agent_id),
    ])
    return deps.voice.open({
      key,
      model: null,
      systemInstruction: instructionsOf(call, {
        agentName: agentName ?? '',
        voicePrompt: voiceSettings.prompt,
      }),
      voiceName: voiceSettings.voice_name ?? defaultVoice,
      tools: callTools,
      signal,
    })
  }

  async function renew(call: CallRow, signal: AbortSignal, onEnded: () => void): Promise<void> {
    while (!signal.aborted) {
      await clock.wait(renewSeconds * 1000, signal)
      if (signal.aborted) return
      const deadline = timestamp(secondsLater(clock.now(), leaseSeconds))
      // Without the database the call continues; another process ends it when the lease expires.
      const isOpen = await store.renew(call.id, deadline).catch((error: unknown) => {
        log.warn({ call_id: call.id, err: error }, 'the lease of a call could not be renewed')
        return true
      })
      if (!isOpen) onEnded()
    }
  }
}
