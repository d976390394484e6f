import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Telephony } from '../../ports/telephony/port.ts'
import type { LiveVoice, VoiceEvent } from '../../ports/voice/port.ts'
import { askTool } from '../voice/index.ts'
import { type AskAgentDeps, createAskAgent } from './ask-agent.ts'
import { createHangUp, hangUpTool } from './hang-up.ts'
import { createMinutes } from './minutes.ts'
import { answeredWord, type Outcome } from './rules.ts'
import { createMouth, type Line, listenTo } from './sound.ts'
import { type CallRow, callStore } from './store.ts'

export type TalkDeps = AskAgentDeps & {
  db: Db
  clock: Pick<Clock, 'wait'>
  log: Log
  telephony: Pick<Telephony, 'audioFrame' | 'markFrame' | 'clearFrame'>
}

/** Ends the call, for this reason; the first one counts. */
export type Finish = (how: Outcome, detail?: string | null) => void

/** What the voice can do in a call. */
export const callTools = [askTool, hangUpTool]

/** Both ends speak with each other until `signal` says that the call is over; then what was said is kept. */
export async function talk(
  deps: TalkDeps,
  of: { call: CallRow; live: LiveVoice; line: Line; signal: AbortSignal; finish: Finish },
): Promise<void> {
  const { call, live, line, signal, finish } = of
  const mouth = createMouth(line, deps.telephony)
  const leave = () => finish('hung_up')
  const leaving = createHangUp({ clock: deps.clock, mouth, line, signal, leave })
  const useTool = createTools(deps, { call, signal, hangUp: leaving.begin })
  const minutes = createMinutes(callStore(deps.db), call.id, deps.log)
  const close = () => live.close()
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()
  live.sendText(answeredWord)
  listenTo(line, live)
  for await (const event of live.events) {
    switch (event.type) {
      case 'audio':
        mouth.say(event.pcm24k)
        break
      case 'interrupted':
        mouth.stop()
        break
      case 'transcript':
        if (event.final) minutes.add(event)
        break
      case 'turnComplete':
        leaving.turnComplete()
        break
      case 'toolCall':
        void useTool(event).then((result) => live.sendToolResult({ id: event.id, name: event.name, result }))
        break
      case 'toolCancelled':
        // What the agent has begun it finishes; an answer that nobody wants any more is dropped by the port.
        break
      case 'closed':
        if (event.reason !== 'asked') finish('voice_down', event.detail)
        break
    }
  }
  await minutes.kept()
}

type ToolCall = Extract<VoiceEvent, { type: 'toolCall' }>

/** Never rejects: what the voice is told stands in for a fault. */
function createTools(
  { log, ...deps }: TalkDeps,
  { call, signal, hangUp }: { call: CallRow; signal: AbortSignal; hangUp(): void },
) {
  const askAgent = createAskAgent(deps, call, signal)
  return async function useTool({ name, args }: ToolCall): Promise<object> {
    if (name === hangUpTool.name) {
      hangUp()
      return { ok: true }
    }
    if (name !== askTool.name) return { error: `There is no tool ${name}.` }
    try {
      return await askAgent(args)
    } catch (error) {
      log.error({ call_id: call.id, err: error }, 'the voice of a call could not ask its agent')
      return { error: 'The agent cannot be asked now.' }
    }
  }
}
