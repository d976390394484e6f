import { WebSocket } from 'ws'
import { maskText } from '../../../kit/mask-secrets.ts'
import type { Secret } from '../../../kit/secret.ts'
import { VoiceDown } from '../port.ts'
import { livePath, readMessage, type ServerMessage } from './messages.ts'

/** One socket to the provider after its setup. A session may use several in sequence. */
export type Connection = {
  send(message: object): void
  /** Bytes waiting to be sent. */
  behind(): number
  /** Stops reading until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

export type DialOptions = {
  baseUrl: string
  key: Secret
  setup: object
  signal: AbortSignal
  /** Called after the setup was accepted, before the first message. */
  onReady(connection: Connection): void
  /** Called with every message in order, from the setup on. */
  onMessage(message: ServerMessage, connection: Connection): void
  /** Called once after the setup, unless closed locally. `detail` is the provider's message. */
  onClosed(code: number, detail: string): void
}

const timeoutMs = 30_000
const maxMessageBytes = 4 * 1024 * 1024

/** Resolves when the provider has accepted the setup. Throws `VoiceDown`. */
export async function dial({ baseUrl, key, setup, signal, ...on }: DialOptions): Promise<void> {
  const socket = new WebSocket(baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '') + livePath, {
    // In a header, because addresses are often logged on the way.
    headers: { 'x-goog-api-key': key.reveal() },
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    followRedirects: false,
  })
  const ready = Promise.withResolvers<void>()
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  let isReady = false
  let isClosed = false

  const connection: Connection = {
    send(message) {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
    },
    behind: () => socket.bufferedAmount,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close() {
      isClosed = true
      socket.close(1000)
      // A paused socket would not read the close reply.
      socket.resume()
      endLate(socket)
    },
  }
  const fail = (reason: string, cause?: unknown) => {
    isClosed = true
    ready.reject(new VoiceDown(maskText(reason, [key.reveal()]), { cause }))
    socket.terminate()
  }
  const onAbort = () => fail(signal.aborted ? 'The request was cancelled.' : 'The provider does not answer.')
  until.addEventListener('abort', onAbort, { once: true })
  if (until.aborted) onAbort()

  socket.on('open', () => socket.send(JSON.stringify(setup)))
  socket.on('unexpected-response', (_request, response) => {
    response.resume()
    fail(`The provider answered ${response.statusCode}.`)
  })
  // The error's text may contain addresses, so people get only this message.
  socket.on('error', (cause) =>
    isReady ? socket.terminate() : fail('The provider cannot be reached.', cause),
  )
  socket.on('close', (code, reason) => {
    const detail = maskText(reason.toString(), [key.reveal()])
    if (!isReady) return fail(`The provider refused the session: ${detail || code}`)
    if (!isClosed) on.onClosed(code, detail)
    isClosed = true
  })
  socket.on('message', (data) => {
    if (isClosed) return
    // This library delivers each message as one buffer by default.
    const message = readMessage((data as Buffer).toString('utf8'))
    if (!message) return
    if (!isReady && message.setupComplete) {
      isReady = true
      on.onReady(connection)
      ready.resolve()
    }
    if (isReady) on.onMessage(message, connection)
  })

  try {
    await ready.promise
  } finally {
    until.removeEventListener('abort', onAbort)
  }
}

/** Does not wait longer for a close reply. */
function endLate(socket: WebSocket): void {
  const timer = setTimeout(() => socket.terminate(), 5000)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}
