import type { VoiceEndReason, VoiceState } from '@roost/contracts/conversations/voice'
import type { WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import { type LiveVoice, VoiceDown, type VoiceEvent } from '../../ports/voice/port.ts'
import { type Asked, type AskingDeps, createAsking } from './asking.ts'
import type { Admitted } from './identity.ts'
import { type Keeping, newLine } from './keeping.ts'
import { createLineSocket } from './line-socket.ts'
import { closeCodeOf } from './rules.ts'
import type { CallRow } from './store.ts'
import { createLineWriter } from './writer.ts'

export type LiveCallDeps = AskingDeps & {
  clock: Clock
  log: Log
  keeping: Keeping
  /** Resolves when the model listens. Throws `VoiceDown`. */
  open(call: CallRow, admitted: Admitted, signal: AbortSignal): Promise<LiveVoice>
}

/** A call that this process carries: the person's socket on one side, the model on the other. */
export type LiveCall = {
  /** Ends it once, for the first reason given; `done` then follows. */
  end(reason: VoiceEndReason): void
  /** Resolves when everything said is kept and the end is written down. Never rejects. */
  readonly done: Promise<void>
}

export function startLiveCall(
  deps: LiveCallDeps,
  of: { call: CallRow; admitted: Admitted; socket: WebSocket; endsInMs: number },
): LiveCall {
  const { clock, log, keeping } = deps
  const { call, admitted } = of
  const over = new AbortController()
  let reason: VoiceEndReason | null = null
  let voice: LiveVoice | null = null
  let state: VoiceState = 'connecting'
  /** Runs that were answered, and whose answer the next line of the voice tells. */
  let toBeSaid: string[] = []
  /** Calls of the tool whose answers the voice does not want any more. */
  const cancelled = new Set<string>()
  /** Of the line that is being said. */
  let saying: string[] | null = null

  const end = (why: VoiceEndReason) => {
    if (reason !== null) return
    reason = why
    over.abort()
    voice?.close()
  }
  const line = createLineSocket(of.socket, {
    clock,
    signal: over.signal,
    on: {
      audio: (pcm) => void voice?.sendAudio(pcm),
      silent: () => voice?.audioEnd(),
      closed: () => end('disconnected'),
      unreadable: () => end('bad_frames'),
      slow: () => end('slow_client'),
    },
  })
  const writer = createLineWriter(call, { clock, log, keeping, gone: () => end('conversation_gone') })
  const asking = createAsking(deps, {
    call,
    caller: admitted.caller,
    tell: (message) => void line.send(message),
    signal: over.signal,
  })

  function become(next: VoiceState): void {
    if (state === next) return
    state = next
    void line.send({ type: 'status', state })
  }

  async function answer(live: LiveVoice, asked: Asked): Promise<void> {
    try {
      const told = await asking.ask(asked)
      if (!told || cancelled.delete(asked.id)) return
      if (told.executionId !== null) toBeSaid.push(told.executionId)
      live.sendToolResult({ ...asked, result: told.result })
    } catch (error) {
      log.error({ err: error, call_id: call.id }, 'what a call has asked could not be taken to the agent')
      live.sendToolResult({ ...asked, result: { error: 'The agent cannot be reached now.' } })
    }
  }

  function heard({ role, text, final }: Extract<VoiceEvent, { type: 'transcript' }>): void {
    if (role === 'assistant' && saying === null) {
      saying = toBeSaid
      toBeSaid = []
    }
    void line.send({ type: 'transcript', role, text, final })
    if (!final) return
    const executionIds = role === 'assistant' ? (saying ?? []) : []
    if (role === 'assistant') saying = null
    writer.add(newLine({ role, text, at: clock.now(), executionIds }))
  }

  /** Waits for a client that is behind, and the provider with it. */
  async function take(live: LiveVoice, event: Exclude<VoiceEvent, { type: 'closed' }>): Promise<void> {
    switch (event.type) {
      case 'audio':
        become('speaking')
        return line.send({ type: 'audio', data: event.pcm24k.toString('base64') })
      case 'transcript':
        return heard(event)
      case 'toolCall':
        return void answer(live, event)
      case 'interrupted':
        become('listening')
        return line.send({ type: 'interrupted' })
      case 'turnComplete':
        return become('listening')
      case 'toolCancelled':
        // The runs go on: what they answer is kept with the conversation when the call is over.
        for (const id of event.ids) cancelled.add(id)
        return
    }
  }

  async function talk(): Promise<void> {
    void line.send({ type: 'status', state })
    const live = await deps.open(call, admitted, over.signal)
    voice = live
    if (reason !== null) live.close()
    become('listening')
    for await (const event of live.events) {
      if (event.type !== 'closed') {
        await take(live, event)
        continue
      }
      if (event.reason === 'asked') return
      log.warn({ call_id: call.id, detail: event.detail }, 'the provider of voices has ended a call')
      end(event.reason === 'refused' ? 'provider_refused' : 'provider_lost')
      return
    }
  }

  async function run(): Promise<void> {
    try {
      await talk()
    } catch (error) {
      if (reason === null) log.warn({ err: error, call_id: call.id }, 'the provider of voices cannot be used')
      end(error instanceof VoiceDown ? 'provider_refused' : 'provider_lost')
    }
    const why = reason ?? 'disconnected'
    await writer.written()
    // Fails open: whoever looks later finds the call over by its time.
    await keeping
      .end(call, why)
      .catch((error: unknown) => log.error({ err: error, call_id: call.id }, 'the end of a call is not kept'))
    void line.send({ type: 'status', state: 'ended', reason: why })
    line.close(closeCodeOf(why), why)
  }

  void clock.wait(of.endsInMs, over.signal).then(() => end('time_limit'))
  return { end, done: run() }
}
