import {
  VoiceClientMessage,
  type VoiceServerMessage,
  voiceFrameLimit,
} from '@roost/contracts/conversations/voice'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'

/** The person's side of a call. After `signal` aborts, sends no longer wait. */
export type CallSocket = {
  /** Resolves when more may be sent, or the client is gone or `slow`. Never throws. */
  send(message: VoiceServerMessage): Promise<void>
  close(code: number, reason: string): void
}

export type CallSocketEvents = {
  audio(pcm: Buffer): void
  /** The microphone is off. */
  silent(): void
  closed(): void
  /** The client sent too many invalid frames. */
  unreadable(): void
  /** The client reads nothing, or stopped responding. */
  slow(): void
}

/** Maximum frame size: the audio plus its JSON. */
export const maxFrameBytes = voiceFrameLimit + 1024
const maxBufferedBytes = 512 * 1024
const sendTimeoutMs = 30_000
const pingEveryMs = 30_000
const maxUnansweredPings = 2
const maxBadFrames = 20

/** `signal` aborts when the call ends; then slow clients are no longer waited for. */
export function createCallSocket(
  socket: WebSocket,
  { clock, on, signal }: { clock: Clock; on: CallSocketEvents; signal: AbortSignal },
): CallSocket {
  const closed = new AbortController()
  let badFrames = 0
  let unansweredPings = 0

  socket.on('message', (data) => {
    unansweredPings = 0
    if (!closed.signal.aborted) receive(data)
  })
  socket.on('pong', () => {
    unansweredPings = 0
  })
  // `close` follows every error.
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    closed.abort()
    on.closed()
  })
  void keepAlive()

  async function keepAlive(): Promise<void> {
    for (;;) {
      await clock.wait(pingEveryMs, closed.signal)
      if (closed.signal.aborted) return
      if (unansweredPings >= maxUnansweredPings) return on.slow()
      unansweredPings += 1
      socket.ping()
    }
  }

  function receive(data: RawData): void {
    const read = readFrame(data.toString())
    if (typeof read === 'string') {
      badFrames += 1
      void send({ type: 'error', error: 'validation_error', detail: read })
      if (badFrames >= maxBadFrames) on.unreadable()
      return
    }
    if (read.type === 'end') on.silent()
    else on.audio(Buffer.from(read.data, 'base64'))
  }

  async function send(message: VoiceServerMessage): Promise<void> {
    if (socket.readyState !== socket.OPEN) return
    const sent = Promise.withResolvers<void>()
    socket.send(JSON.stringify(message), () => sent.resolve())
    if (socket.bufferedAmount <= maxBufferedBytes) return
    const wait = new AbortController()
    void sent.promise.then(() => wait.abort())
    const until = AbortSignal.any([wait.signal, closed.signal, signal])
    await clock.wait(sendTimeoutMs, until)
    if (!until.aborted) on.slow()
  }

  return {
    send,
    close(code, reason) {
      closed.abort()
      socket.close(code, reason)
    },
  }
}

/** Returns the parsed frame, or the reason why it is invalid. */
export function readFrame(text: string): VoiceClientMessage | string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'A frame is JSON text.'
  }
  const read = VoiceClientMessage.safeParse(json)
  if (!read.success) {
    const [issue] = read.error.issues
    return `${issue?.path.join('.') || 'type'}: ${issue?.message ?? 'is not known'}`
  }
  if (read.data.type === 'audio' && Buffer.byteLength(read.data.data, 'base64') % 2 !== 0) {
    return 'data: must be whole samples of 16 bits'
  }
  return read.data
}
