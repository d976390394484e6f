import { createEventQueue } from '../event-queue.ts'
import type { LiveVoice, VoiceAsked, VoiceEvent } from '../port.ts'
import { type Connection, dial } from './connection.ts'
import {
  audioEndMessage,
  audioMessage,
  type ServerMessage,
  setupOf,
  textMessage,
  toolMessage,
} from './messages.ts'

/** Send buffer limit: two seconds of speech. */
const maxBufferedBytes = 90_000
/** Reconnections without any conversation in between. */
const maxIdleMoves = 3
/** Close codes for invalid or forbidden requests. */
const refusals: readonly number[] = [1002, 1003, 1007, 1008, 1009]

/** One conversation over as many connections as the provider requires. */
export async function openSession(
  request: VoiceAsked & { model: string },
  baseUrl: string,
): Promise<LiveVoice> {
  const { key } = request
  const lines = createLines()
  const ended = new AbortController()
  const queue = createEventQueue({ hold: () => current?.pause(), release: () => current?.resume() })
  /** The connection that made each call; null when the model cancelled it. */
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
      setup: setupOf(request, handle),
      onReady(connection) {
        current = connection
        if (queue.isPaused()) connection.pause()
      },
      onMessage: receive,
      onClosed: lost,
    })

  function lost(code: number, detail: string): void {
    current = null
    if (refusals.includes(code)) end('refused', detail || null)
    else if (handle === null || idleMoves >= maxIdleMoves) end('lost', detail || null)
    else void move()
  }

  /** Resumes the conversation on a new connection; speech in between is lost. */
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

  function receive(message: ServerMessage, from: Connection): void {
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
    // During a sentence the notice period is long enough to finish it.
    if (mustMove && !isSpeaking && handle !== null && current) void move()
  }

  function content(update: NonNullable<ServerMessage['serverContent']>): void {
    idleMoves = 0
    const { inputTranscription: input, outputTranscription: output } = update
    if (input) queue.push(...lines.add('user', input.text ?? '', input.finished === true))
    if (update.interrupted) {
      isSpeaking = false
      queue.dropAudio()
      queue.push(...lines.end('assistant'), { type: 'interrupted' })
    }
    for (const audio of audioOf(update)) {
      isSpeaking = true
      queue.push(audio)
    }
    if (output) queue.push(...lines.add('assistant', output.text ?? '', output.finished === true))
    if (update.turnComplete) {
      isSpeaking = false
      queue.push(...lines.endAll(), { type: 'turnComplete' })
    }
  }

  await connect(request.signal)

  return {
    events: queue.events,
    sendAudio(pcm) {
      if (!current || current.behind() > maxBufferedBytes) return false
      current.send(audioMessage(pcm))
      return true
    },
    audioEnd: () => current?.send(audioEndMessage),
    sendText: (text) => current?.send(textMessage(text)),
    sendToolResult(answer) {
      const caller = calls.get(answer.id)
      if (!caller) return
      calls.delete(answer.id)
      // Another connection does not know the call, so the answer is sent as text.
      const isKnown = caller === current
      current?.send(isKnown ? toolMessage(answer) : textMessage(textOfResult(answer)))
    },
    close: () => end('asked', null),
  }
}

function* audioOf(update: NonNullable<ServerMessage['serverContent']>): Generator<VoiceEvent> {
  for (const { inlineData } of update.modelTurn?.parts ?? []) {
    if (!inlineData?.mimeType.startsWith('audio/')) continue
    yield { type: 'audio', pcm24k: Buffer.from(inlineData.data, 'base64') }
  }
}

function textOfResult({ name, result }: { name: string; result: object }): string {
  return `The answer to your earlier call of ${name}: ${JSON.stringify(result)}`
}

type Role = 'user' | 'assistant'
type Line = Extract<VoiceEvent, { type: 'transcript' }>

/** Assembles transcript lines from pieces. */
function createLines() {
  const open: Record<Role, string> = { user: '', assistant: '' }

  function end(role: Role): Line[] {
    const text = open[role].trim().toWellFormed()
    open[role] = ''
    return text === '' ? [] : [{ type: 'transcript', role, text, final: true }]
  }

  return {
    /** Adds a piece of a role's text. The person's line ends when the answer starts. */
    add(role: Role, piece: string, isFinished: boolean): Line[] {
      const before = role === 'assistant' ? end('user') : []
      // Removes U+0000, which databases reject. A lone surrogate may be completed by the next piece.
      open[role] += piece.replaceAll('\0', '')
      if (isFinished) return [...before, ...end(role)]
      const text = open[role].trim()
      return text === '' ? before : [...before, { type: 'transcript', role, text, final: false }]
    },
    end,
    /** The person's line comes first, because it preceded the answer. */
    endAll: (): Line[] => [...end('user'), ...end('assistant')],
  }
}
