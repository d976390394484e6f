/** The provider's end of a media stream, with the called person's audio: μ-law, 8 kHz. */
export type MediaEnd = {
  /** Sends audio in frames of 20 ms. */
  say(mulaw: Buffer): void
  /** All audio received so far. */
  heard(): Buffer
  /** Resolves once this many bytes were received. */
  untilHeard(bytes: number): Promise<Buffer>
  /** Resolves once the platform has cleared unplayed audio this many times. */
  untilCleared(times?: number): Promise<void>
  /** The person hangs up, so the stream ends. */
  stop(): void
  /** Resolves when either end has closed the stream. */
  closed: Promise<void>
}

const frameBytes = 160

export async function openMediaEnd(call: {
  url: string
  accountSid: string
  callSid: string
  ticket: string
}): Promise<MediaEnd> {
  const streamSid = `MZ${call.callSid.slice(2)}`
  const socket = new WebSocket(call.url)
  const closed = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  socket.addEventListener('open', () => opened.resolve())
  socket.addEventListener('error', () => opened.reject(new Error('The media socket was refused.')))
  socket.addEventListener('close', () => closed.resolve())
  await opened.promise
  let sequence = 0
  const send = (message: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  const numbered = (message: object) => send({ ...message, sequenceNumber: String(++sequence), streamSid })

  let received = Buffer.alloc(0)
  let clears = 0
  let watchers: (() => void)[] = []
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data))
    if (message.streamSid !== streamSid) return
    if (message.event === 'media')
      received = Buffer.concat([received, Buffer.from(message.media.payload, 'base64')])
    if (message.event === 'clear') clears += 1
    // For tests, all audio before the mark counts as played.
    if (message.event === 'mark') numbered({ event: 'mark', mark: message.mark })
    for (const look of watchers) look()
  })
  const until = async (holds: () => boolean) => {
    while (!holds()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      watchers.push(resolve)
      await promise
      watchers = watchers.filter((each) => each !== resolve)
    }
  }

  send({ event: 'connected', protocol: 'Call', version: '1.0.0' })
  numbered({
    event: 'start',
    start: {
      streamSid,
      accountSid: call.accountSid,
      callSid: call.callSid,
      tracks: ['inbound'],
      customParameters: { ticket: call.ticket },
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    },
  })
  return {
    closed: closed.promise,
    say(mulaw) {
      for (let at = 0; at < mulaw.length; at += frameBytes) {
        const payload = mulaw.subarray(at, at + frameBytes).toString('base64')
        const timestamp = String(at / 8)
        numbered({ event: 'media', media: { track: 'inbound', chunk: String(sequence), timestamp, payload } })
      }
    },
    heard: () => received,
    async untilHeard(bytes) {
      await until(() => received.length >= bytes)
      return received
    },
    untilCleared: (times = 1) => until(() => clears >= times),
    stop() {
      numbered({ event: 'stop', stop: { accountSid: call.accountSid, callSid: call.callSid } })
      socket.close()
    },
  }
}
