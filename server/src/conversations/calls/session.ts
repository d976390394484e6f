import { maxCallSeconds } from '@roost/contracts/conversations/calls'
import { defaultVoice } from '@roost/contracts/conversations/voice'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import { type LiveVoice, VoiceDown, type VoicePort } from '../../ports/voice/port.ts'
import type { End } from './end.ts'
import { instructionsOf, type Outcome } from './rules.ts'
import type { Line } from './sound.ts'
import { type CallRow, callStore } from './store.ts'
import { callTools, type Finish, type TalkDeps, talk } from './talk.ts'

export type CallSessionDeps = TalkDeps & {
  clock: Clock
  voice: VoicePort
  /** Null: the platform has none. */
  voiceKey(): Secret | null
  /** How the agent speaks. */
  voiceOf(agentId: string): Promise<{ voice_name: string | null; prompt: string | null }>
  agentName(agentId: string): Promise<string | null>
  endings: Pick<End, 'end'>
}

/** While it is carried a call is put off, so that another process knows when this one has died. */
const renewSeconds = 20
export const leaseSeconds = 60

/** Sound of a call, both ways, until it ends by whomever; then its execution has ended, too. */
export function createCallSession(deps: CallSessionDeps) {
  const { db, clock, log, endings } = deps
  const store = callStore(db)

  return async function carry(call: CallRow, line: Line): Promise<void> {
    const over = new AbortController()
    let outcome: { how: Outcome; detail: string | null } = { how: 'hung_up', detail: null }
    const finish: Finish = (how, detail = null) => {
      if (over.signal.aborted) return
      outcome = { how, detail }
      over.abort()
    }
    line.onEnd(finish)
    void clock.wait(maxCallSeconds * 1000, over.signal).then(() => finish('time_over'))
    const renewing = renew(call, over.signal, () => finish('hung_up'))
    try {
      const live = await open(call, over.signal)
      await talk(deps, { call, live, line, signal: over.signal, finish })
    } catch (error) {
      if (!(error instanceof VoiceDown)) log.error({ call_id: call.id, err: error }, 'a call was dropped')
      finish('voice_down', error instanceof VoiceDown ? error.message : null)
    } finally {
      over.abort()
      line.close()
      await renewing
    }
    await endings.end(call.id, outcome.how, outcome.detail)
  }

  async function open(call: CallRow, signal: AbortSignal): Promise<LiveVoice> {
    const key = deps.voiceKey()
    if (key === null) throw new VoiceDown('The platform has no key of the voice provider.')
    const [speaker, agentName] = await Promise.all([
      deps.voiceOf(call.agent_id),
      deps.agentName(call.agent_id),
    ])
    return deps.voice.open({
      key,
      model: null,
      systemInstruction: instructionsOf(call, { agentName: agentName ?? '', voicePrompt: speaker.prompt }),
      voiceName: speaker.voice_name ?? defaultVoice,
      tools: callTools,
      signal,
    })
  }

  async function renew(call: CallRow, signal: AbortSignal, gone: () => void): Promise<void> {
    while (!signal.aborted) {
      await clock.wait(renewSeconds * 1000, signal)
      if (signal.aborted) return
      const deadline = timestamp(secondsLater(clock.now(), leaseSeconds))
      // Without the database the call goes on, and is ended by whoever sees its lease run out.
      const isOpen = await store.renew(call.id, deadline).catch((error: unknown) => {
        log.warn({ call_id: call.id, err: error }, 'the lease of a call could not be renewed')
        return true
      })
      if (!isOpen) gone()
    }
  }
}
