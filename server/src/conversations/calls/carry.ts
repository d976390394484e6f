import { maxCallSeconds } from '@roost/contracts/conversations/calls'
import { defaultVoice } from '@roost/contracts/conversations/voice'
import type { Clock } from '../../kit/clock.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Telephony } from '../../ports/telephony/port.ts'
import { type LiveVoice, VoiceDown, type VoicePort } from '../../ports/voice/port.ts'
import { askTool } from '../voice/index.ts'
import { type AskAgentDeps, createAskAgent } from './ask-agent.ts'
import type { End } from './end.ts'
import { createLeaving, hangUpTool } from './leaving.ts'
import { answeredWord, instructionsOf, type Outcome } from './rules.ts'
import { createEar, createMouth, type Line } from './sound.ts'
import { type CallRow, callStore } from './store.ts'

export type CarryDeps = AskAgentDeps & {
  db: Db
  clock: Clock
  log: Log
  telephony: Pick<Telephony, 'audioFrame' | 'markFrame' | 'clearFrame'>
  voice: VoicePort
  /** Null: the platform has none. */
  voiceKey(): Secret | null
  /** How the agent speaks. */
  voiceOf(agentId: string): Promise<{ voice_name: string | null; prompt: string | null }>
  agentName(agentId: string): Promise<string | null>
  endings: Pick<End, 'end'>
}

/** While it is carried a call is put off, so that another process knows when this one has died. */
export const renewSeconds = 20
export const leaseSeconds = 60

/** Sound of a call, both ways, until it ends by whomever; then its execution has ended, too. */
export function createCarry(deps: CarryDeps) {
  const { db, clock, log, endings } = deps
  const store = callStore(db)

  return async function carry(call: CallRow, line: Line): Promise<void> {
    const over = new AbortController()
    let outcome: { how: Outcome; detail: string | null } = { how: 'hung_up', detail: null }
    const finish = (how: Outcome, detail: string | null = null) => {
      if (over.signal.aborted) return
      outcome = { how, detail }
      over.abort()
    }
    line.onEnd(finish)
    void clock.wait(maxCallSeconds * 1000, over.signal).then(() => finish('time_over'))
    const renewing = renew(call, over.signal, () => finish('hung_up'))
    try {
      const live = await open(call, over.signal)
      await talk(call, live, { line, signal: over.signal, finish })
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
      tools: [askTool, hangUpTool],
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

  async function talk(
    call: CallRow,
    live: LiveVoice,
    {
      line,
      signal,
      finish,
    }: { line: Line; signal: AbortSignal; finish(how: Outcome, detail?: string | null): void },
  ): Promise<void> {
    const ear = createEar(line, live)
    const mouth = createMouth(line, deps.telephony)
    const leaving = createLeaving({ clock, mouth, line, signal, leave: () => finish('hung_up') })
    const askAgent = createAskAgent(deps, call, signal)
    const said = createMinutes(store, call.id, log)
    const close = () => live.close()
    signal.addEventListener('abort', close, { once: true })
    if (signal.aborted) close()
    live.sendText(answeredWord)
    ear.open()
    for await (const event of live.events) {
      switch (event.type) {
        case 'audio':
          mouth.say(event.pcm24k)
          break
        case 'interrupted':
          mouth.stop()
          break
        case 'transcript':
          if (event.final) said.add(event)
          break
        case 'turnComplete':
          leaving.turnComplete()
          break
        case 'toolCall': {
          const { id, name, args } = event
          const answer = (result: object) => live.sendToolResult({ id, name, result })
          if (name === hangUpTool.name) {
            leaving.begin()
            answer({ ok: true })
          } else if (name === askTool.name) {
            void asked(call, () => askAgent(args)).then(answer)
          } else {
            answer({ error: 'There is no such tool.' })
          }
          break
        }
        case 'toolCancelled':
          break
        case 'closed':
          if (event.reason !== 'asked') finish('voice_down', event.detail)
          break
      }
    }
    await said.kept()
  }

  async function asked(call: CallRow, ask: () => Promise<object>): Promise<object> {
    try {
      return await ask()
    } catch (error) {
      log.error({ call_id: call.id, err: error }, 'the voice of a call could not ask its agent')
      return { error: 'The agent cannot be asked now.' }
    }
  }
}

/** What was said, kept as it is said: a call whose process dies has its transcript all the same. */
function createMinutes(store: ReturnType<typeof callStore>, callId: string, log: Log) {
  let n = 0
  let keeping = Promise.resolve()
  return {
    add({ role, text }: { role: 'user' | 'assistant'; text: string }): void {
      if (text.trim() === '') return
      n += 1
      const line = { role, text: text.trim().replaceAll('\0', '').toWellFormed() }
      const place = n
      keeping = keeping
        .then(() => store.addLine(callId, place, line))
        .catch((error: unknown) =>
          log.error({ call_id: callId, err: error }, 'a line of a call was not kept'),
        )
    },
    kept: () => keeping,
  }
}
