import { createEventQueue } from '../event-queue.ts'
import type { LiveVoice, VoiceAsked, VoiceEvent } from '../port.ts'
import { type Connection, dial } from './connection.ts'
import { createLines } from './lines.ts'
import {
  audioEndMessage,
  audioMessage,
  type ServerMessage,
  setupOf,
  textMessage,
  toolMessage,
} from './messages.ts'

/** Two seconds of speech as it is sent. */
const behindMost = 90_000
/** Connections that carry a session on without anything having been said meanwhile. */
const idleMovesMost = 3
/** The provider means it: asked wrongly, or not allowed. */
const refusals: readonly number[] = [1002, 1003, 1007, 1008, 1009]

/** One conversation, over as many connections as the provider makes of it. */
export async function openSession(
  asked: VoiceAsked & { model: string },
  baseUrl: string,
): Promise<LiveVoice> {
  const { key } = asked
  const lines = createLines()
  const ended = new AbortController()
  const queue = createEventQueue({ hold: () => current?.pause(), release: () => current?.resume() })
  /** Which connection has asked; null: the model does not want the answer. */
  const calls = new Map<string, Connection | null>()
  let current: Connection | null = null as Connection | null
  let handle: string | null = null
  let isSpeaking = false
  let mustMove = false
  let idleMoves = 0

  const end = (reason: 'asked' | 'lost' | 'refused', detail: string | null) => {
    if (ended.signal.aborted) return
    ended.abort()
    current?.close()
    current = null
    queue.push(...lines.endAll(), { type: 'closed', reason, detail })
  }

  const connect = (signal: AbortSignal) =>
    dial({
      ...{ baseUrl, key, signal },
      setup: setupOf(asked, handle),
      onReady(connection) {
        current = connection
        if (queue.isHeld()) connection.pause()
      },
      onMessage: take,
      onClosed: lost,
    })

  function lost(code: number, detail: string): void {
    current = null
    if (refusals.includes(code)) end('refused', detail || null)
    else if (handle === null || idleMoves >= idleMovesMost) end('lost', detail || null)
    else void move()
  }

  /** Carries the conversation on over a new connection; what is said meanwhile is not heard. */
  async function move(): Promise<void> {
    idleMoves += 1
    mustMove = false
    isSpeaking = false
    const old = current
    current = null
    old?.close()
    queue.push(...lines.endAll())
    try {
      await connect(ended.signal)
    } catch (error) {
      end('lost', error instanceof Error ? error.message : null)
    }
  }

  function take(message: ServerMessage, from: Connection): void {
    const { serverContent, toolCall, toolCallCancellation, sessionResumptionUpdate } = message
    if (sessionResumptionUpdate?.resumable && sessionResumptionUpdate.newHandle) {
      handle = sessionResumptionUpdate.newHandle
    }
    if (serverContent) content(serverContent)
    for (const { id, name, args } of toolCall?.functionCalls ?? []) {
      calls.set(id, from)
      queue.push(...lines.end('user'), { type: 'toolCall', id, name, args: args ?? {} })
    }
    if (toolCallCancellation) {
      for (const id of toolCallCancellation.ids) calls.set(id, null)
      queue.push({ type: 'toolCancelled', ids: toolCallCancellation.ids })
    }
    if (message.goAway) mustMove = true
    // In the middle of a sentence the notice is long enough to end it.
    if (mustMove && !isSpeaking && handle !== null && current) void move()
  }

  function content(said: NonNullable<ServerMessage['serverContent']>): void {
    idleMoves = 0
    const { inputTranscription: input, outputTranscription: output } = said
    if (input) queue.push(...lines.heard('user', input.text ?? '', input.finished === true))
    if (said.interrupted) {
      isSpeaking = false
      queue.dropAudio()
      queue.push(...lines.end('assistant'), { type: 'interrupted' })
    }
    for (const audio of audioOf(said)) {
      isSpeaking = true
      queue.push(audio)
    }
    if (output) queue.push(...lines.heard('assistant', output.text ?? '', output.finished === true))
    if (said.turnComplete) {
      isSpeaking = false
      queue.push(...lines.endAll(), { type: 'turnComplete' })
    }
  }

  await connect(asked.signal)

  return {
    events: queue.events,
    sendAudio(pcm) {
      if (!current || current.behind() > behindMost) return false
      current.send(audioMessage(pcm))
      return true
    },
    audioEnd: () => current?.send(audioEndMessage),
    sendText: (text) => current?.send(textMessage(text)),
    sendToolResult(answer) {
      const caller = calls.get(answer.id)
      if (!caller) return
      calls.delete(answer.id)
      // Another connection does not know the call: there the answer is news.
      const isKnown = caller === current
      current?.send(isKnown ? toolMessage(answer) : textMessage(newsOf(answer)))
    },
    close: () => end('asked', null),
  }
}

function* audioOf(said: NonNullable<ServerMessage['serverContent']>): Generator<VoiceEvent> {
  for (const { inlineData } of said.modelTurn?.parts ?? []) {
    if (!inlineData?.mimeType.startsWith('audio/')) continue
    yield { type: 'audio', pcm24k: Buffer.from(inlineData.data, 'base64') }
  }
}

function newsOf({ name, result }: { name: string; result: object }): string {
  return `The answer to your earlier call of ${name}: ${JSON.stringify(result)}`
}
