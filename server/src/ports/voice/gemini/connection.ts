import { WebSocket } from 'ws'
import { maskText } from '../../../kit/mask-secrets.ts'
import type { Secret } from '../../../kit/secret.ts'
import { VoiceDown } from '../port.ts'
import { livePath, readMessage, type ServerMessage } from './messages.ts'

/** One socket to the provider, past its setup. A session may need several, one after the other. */
export type Connection = {
  send(message: object): void
  /** Bytes that wait to be sent. */
  behind(): number
  /** Nothing is read until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

export type Dialled = {
  baseUrl: string
  key: Secret
  setup: object
  signal: AbortSignal
  /** The provider has taken the setup; before its first message. */
  onReady(connection: Connection): void
  /** In order, from the setup on. */
  onMessage(message: ServerMessage, connection: Connection): void
  /** After the setup, once; not after `close`. `detail` is the provider's own word. */
  onClosed(code: number, detail: string): void
}

const patienceMs = 30_000
const longestMessage = 4 * 1024 * 1024

/** Resolves when the provider has taken the setup. Throws `VoiceDown`. */
export async function dial({ baseUrl, key, setup, signal, ...on }: Dialled): Promise<void> {
  const socket = new WebSocket(baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '') + livePath, {
    // In a header: addresses are written into logs on the way.
    headers: { 'x-goog-api-key': key.reveal() },
    perMessageDeflate: false,
    maxPayload: longestMessage,
    followRedirects: false,
  })
  const ready = Promise.withResolvers<void>()
  const until = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  let isReady = false
  let isOver = false

  const connection: Connection = {
    send(message) {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
    },
    behind: () => socket.bufferedAmount,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close() {
      isOver = true
      socket.close(1000)
      // A paused socket would not hear the other side's answer to that.
      socket.resume()
      endLate(socket)
    },
  }
  const fail = (why: string, cause?: unknown) => {
    isOver = true
    ready.reject(new VoiceDown(maskText(why, [key.reveal()]), { cause }))
    socket.terminate()
  }
  const onAbort = () => fail(signal.aborted ? 'Nobody waits any more.' : 'The provider does not answer.')
  until.addEventListener('abort', onAbort, { once: true })
  if (until.aborted) onAbort()

  socket.on('open', () => socket.send(JSON.stringify(setup)))
  socket.on('unexpected-response', (_request, response) => {
    response.resume()
    fail(`The provider answered ${response.statusCode}.`)
  })
  // Its text may hold the address of a proxy or a host; that it failed is enough for people.
  socket.on('error', (cause) =>
    isReady ? socket.terminate() : fail('The provider cannot be reached.', cause),
  )
  socket.on('close', (code, reason) => {
    const detail = maskText(reason.toString(), [key.reveal()])
    if (!isReady) return fail(`The provider refuses: ${detail || code}`)
    if (!isOver) on.onClosed(code, detail)
    isOver = true
  })
  socket.on('message', (data) => {
    if (isOver) return
    // One part of a message is one buffer, which is what this library gives unless told otherwise.
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

/** Who does not answer a close is not waited for. */
function endLate(socket: WebSocket): void {
  const timer = setTimeout(() => socket.terminate(), 5000)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}
