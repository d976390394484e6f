import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Telephony } from '../../ports/telephony/port.ts'
import type { LiveVoice, VoiceEvent } from '../../ports/voice/port.ts'
import { askTool } from '../voice/index.ts'
import { type AskAgentDeps, createAskAgent } from './ask-agent.ts'
import { createHangUp, hangUpTool } from './hang-up.ts'
import { answeredNotice, type Outcome } from './rules.ts'
import { createVoiceOutput, forwardAudio, type MediaLine } from './sound.ts'
import { type CallLine, type CallRow, callStore } from './store.ts'

export type TalkDeps = AskAgentDeps & {
  db: Db
  clock: Pick<Clock, 'wait'>
  log: Log
  telephony: Pick<Telephony, 'audioFrame' | 'markFrame' | 'clearFrame'>
}

/** Ends the call; only the first outcome counts. */
export type Finish = (how: Outcome, detail?: string | null) => void

/** The tools of the voice in a call. */
export const callTools = [askTool, hangUpTool]

/** Relays the conversation until `signal` aborts, then waits until the transcript is stored. */
export async function talk(
  deps: TalkDeps,
  of: { call: CallRow; live: LiveVoice; media: MediaLine; signal: AbortSignal; finish: Finish },
): Promise<void> {
  const { call, live, media, signal, finish } = of
  const output = createVoiceOutput(media, deps.telephony)
  const leave = () => finish('hung_up')
  const hangingUp = createHangUp({ clock: deps.clock, output, media, signal, leave })
  const useTool = createTools(deps, { call, signal, hangUp: hangingUp.begin })
  const transcript = createTranscript(callStore(deps.db), call.id, deps.log)
  const close = () => live.close()
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()
  live.sendText(answeredNotice)
  forwardAudio(media, live)
  for await (const event of live.events) {
    switch (event.type) {
      case 'audio':
        output.say(event.pcm24k)
        break
      case 'interrupted':
        output.stop()
        break
      case 'transcript':
        if (event.final) transcript.add(event)
        break
      case 'turnComplete':
        hangingUp.turnComplete()
        break
      case 'toolCall':
        void useTool(event).then((result) => live.sendToolResult({ id: event.id, name: event.name, result }))
        break
      case 'toolCancelled':
        // The agent finishes its work; the port drops a result that the voice has cancelled.
        break
      case 'closed':
        if (event.reason !== 'asked') finish('voice_down', event.detail)
        break
    }
  }
  await transcript.stored()
}

type ToolCall = Extract<VoiceEvent, { type: 'toolCall' }>

/** Never rejects: errors become tool results. */
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

export type Transcript = {
  add(line: CallLine): void
  /** Resolves when all added lines are stored. */
  stored(): Promise<void>
}

/** Stores lines as they are spoken, so that a crash does not lose the transcript. */
export function createTranscript(
  store: Pick<ReturnType<typeof callStore>, 'addLine'>,
  callId: string,
  log: Pick<Log, 'error'>,
): Transcript {
  let n = 0
  let writing = Promise.resolve()
  return {
    add({ role, text }) {
      if (text.trim() === '') return
      n += 1
      const position = n
      const line = { role, text: text.trim() }
      writing = writing
        .then(() => store.addLine(callId, position, line))
        .catch((error: unknown) =>
          log.error({ call_id: callId, err: error }, 'a line of a call was not stored'),
        )
    },
    stored: () => writing,
  }
}
