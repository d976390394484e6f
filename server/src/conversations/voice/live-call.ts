import type { VoiceEndReason, VoiceState } from '@roost/contracts/conversations/voice'
import type { WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import { type LiveVoice, VoiceDown, type VoiceEvent } from '../../ports/voice/port.ts'
import { type AgentRequestsDeps, createAgentRequests, type ToolCall } from './agent-requests.ts'
import { createCallSocket } from './call-socket.ts'
import type { Admitted } from './identity.ts'
import { closeCodeOf } from './rules.ts'
import type { CallRow } from './store.ts'
import { createLineWriter, newLine, type Transcript } from './transcript.ts'

export type LiveCallDeps = AgentRequestsDeps & {
  clock: Clock
  log: Log
  transcript: Transcript
  /** Resolves when the model listens. Throws `VoiceDown`. */
  open(call: CallRow, admitted: Admitted, signal: AbortSignal): Promise<LiveVoice>
}

/** A call that this process carries, between the person's socket and the model. */
export type LiveCall = {
  /** Ends the call; only the first reason counts. `done` follows. */
  end(reason: VoiceEndReason): void
  /** Resolves when the lines and the end are stored. Never rejects. */
  readonly done: Promise<void>
}

export function startLiveCall(
  deps: LiveCallDeps,
  of: { call: CallRow; admitted: Admitted; socket: WebSocket; endsInMs: number },
): LiveCall {
  const { clock, log, transcript } = deps
  const { call, admitted } = of
  const ending = new AbortController()
  let reason: VoiceEndReason | null = null
  let voice: LiveVoice | null = null
  let state: VoiceState = 'connecting'
  /** Answered runs that the voice's next line reports. */
  let unspokenRuns: string[] = []
  /** Tool calls that the voice has cancelled. */
  const cancelled = new Set<string>()
  /** The runs reported by the current line. */
  let currentRuns: string[] | null = null

  const end = (why: VoiceEndReason) => {
    if (reason !== null) return
    reason = why
    ending.abort()
    voice?.close()
  }
  const client = createCallSocket(of.socket, {
    clock,
    signal: ending.signal,
    on: {
      audio: (pcm) => void voice?.sendAudio(pcm),
      silent: () => voice?.audioEnd(),
      closed: () => end('disconnected'),
      unreadable: () => end('bad_frames'),
      slow: () => end('slow_client'),
    },
  })
  const writer = createLineWriter(call, {
    clock,
    log,
    transcript,
    conversationDeleted: () => end('conversation_gone'),
  })
  const agentRequests = createAgentRequests(deps, {
    call,
    caller: admitted.caller,
    send: (message) => void client.send(message),
    signal: ending.signal,
  })

  function setState(next: VoiceState): void {
    if (state === next) return
    state = next
    void client.send({ type: 'status', state })
  }

  async function answer(live: LiveVoice, toolCall: ToolCall): Promise<void> {
    try {
      const reply = await agentRequests.ask(toolCall)
      if (!reply || cancelled.delete(toolCall.id)) return
      if (reply.executionId !== null) unspokenRuns.push(reply.executionId)
      live.sendToolResult({ ...toolCall, result: reply.result })
    } catch (error) {
      log.error({ err: error, call_id: call.id }, 'a request of a call could not be passed to the agent')
      live.sendToolResult({ ...toolCall, result: { error: 'The agent cannot be reached now.' } })
    }
  }

  function onTranscript({ role, text, final }: Extract<VoiceEvent, { type: 'transcript' }>): void {
    if (role === 'assistant' && currentRuns === null) {
      currentRuns = unspokenRuns
      unspokenRuns = []
    }
    void client.send({ type: 'transcript', role, text, final })
    if (!final) return
    const executionIds = role === 'assistant' ? (currentRuns ?? []) : []
    if (role === 'assistant') currentRuns = null
    writer.add(newLine({ role, text, at: clock.now(), executionIds }))
  }

  /** Waits for a slow client, which slows the provider down too. */
  async function handle(live: LiveVoice, event: Exclude<VoiceEvent, { type: 'closed' }>): Promise<void> {
    switch (event.type) {
      case 'audio':
        setState('speaking')
        return client.send({ type: 'audio', data: event.pcm24k.toString('base64') })
      case 'transcript':
        return onTranscript(event)
      case 'toolCall':
        return void answer(live, event)
      case 'interrupted':
        setState('listening')
        return client.send({ type: 'interrupted' })
      case 'turnComplete':
        return setState('listening')
      case 'toolCancelled':
        // The runs continue; their answers become messages when the call ends.
        for (const id of event.ids) cancelled.add(id)
        return
    }
  }

  async function relay(): Promise<void> {
    void client.send({ type: 'status', state })
    const live = await deps.open(call, admitted, ending.signal)
    voice = live
    if (reason !== null) live.close()
    setState('listening')
    for await (const event of live.events) {
      if (event.type !== 'closed') {
        await handle(live, event)
        continue
      }
      if (event.reason === 'asked') return
      log.warn({ call_id: call.id, detail: event.detail }, 'the voice provider ended a call')
      end(event.reason === 'refused' ? 'provider_refused' : 'provider_lost')
      return
    }
  }

  async function run(): Promise<void> {
    try {
      await relay()
    } catch (error) {
      if (reason === null) log.warn({ err: error, call_id: call.id }, 'the voice provider is not available')
      end(error instanceof VoiceDown ? 'provider_refused' : 'provider_lost')
    }
    const why = reason ?? 'disconnected'
    await writer.written()
    // Fails open: the sweep ends the call by its time limit.
    await transcript
      .end(call, why)
      .catch((error: unknown) =>
        log.error({ err: error, call_id: call.id }, 'the end of a call was not stored'),
      )
    void client.send({ type: 'status', state: 'ended', reason: why })
    client.close(closeCodeOf(why), why)
  }

  void clock.wait(of.endsInMs, ending.signal).then(() => end('time_limit'))
  return { end, done: run() }
}
