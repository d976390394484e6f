import {
  VoiceClientMessage,
  type VoiceServerMessage,
  voiceFrameLimit,
} from '@roost/contracts/conversations/voice'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'

/** The person's side of a call. Once `signal` says that the call is over, nobody is waited for. */
export type LineSocket = {
  /** Resolves when more may be sent, or when the client is gone or `slow`. Never throws. */
  send(message: VoiceServerMessage): Promise<void>
  close(code: number, reason: string): void
}

export type LineSocketEvents = {
  audio(pcm: Buffer): void
  /** The microphone is off. */
  silent(): void
  closed(): void
  /** Too many frames that cannot be read. */
  unreadable(): void
  /** It takes nothing any more, or gives no sign of life. */
  slow(): void
}

/** The longest frame: its sound, and the words around it. */
export const frameMost = voiceFrameLimit + 1024
const bytesMost = 512 * 1024
const patienceMs = 30_000
const pingEveryMs = 30_000
const unansweredMost = 2
const badFramesMost = 20

/** `signal`: the call is over, and nobody who is behind is waited for any more. */
export function createLineSocket(
  socket: WebSocket,
  { clock, on, signal }: { clock: Clock; on: LineSocketEvents; signal: AbortSignal },
): LineSocket {
  const over = new AbortController()
  let badFrames = 0
  let unanswered = 0

  socket.on('message', (data) => {
    unanswered = 0
    if (!over.signal.aborted) take(data)
  })
  socket.on('pong', () => {
    unanswered = 0
  })
  // What is wrong with it is followed by its end.
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    over.abort()
    on.closed()
  })
  void keepAlive()

  async function keepAlive(): Promise<void> {
    for (;;) {
      await clock.wait(pingEveryMs, over.signal)
      if (over.signal.aborted) return
      if (unanswered >= unansweredMost) return on.slow()
      unanswered += 1
      socket.ping()
    }
  }

  function take(data: RawData): void {
    const read = readFrame(data.toString())
    if (typeof read === 'string') {
      badFrames += 1
      void send({ type: 'error', error: 'validation_error', detail: read })
      if (badFrames >= badFramesMost) on.unreadable()
      return
    }
    if (read.type === 'end') on.silent()
    else on.audio(Buffer.from(read.data, 'base64'))
  }

  async function send(message: VoiceServerMessage): Promise<void> {
    if (socket.readyState !== socket.OPEN) return
    const taken = Promise.withResolvers<void>()
    socket.send(JSON.stringify(message), () => taken.resolve())
    if (socket.bufferedAmount <= bytesMost) return
    const waited = new AbortController()
    void taken.promise.then(() => waited.abort())
    const until = AbortSignal.any([waited.signal, over.signal, signal])
    await clock.wait(patienceMs, until)
    if (!until.aborted) on.slow()
  }

  return {
    send,
    close(code, reason) {
      over.abort()
      socket.close(code, reason)
    },
  }
}

/** A frame, or what is wrong with it. */
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
