import type { WebSocket } from 'ws'
import { tone } from './audio.ts'

// Tests inspect the fields that they expect.
// biome-ignore lint/suspicious/noExplicitAny: any message
export type Message = any

/** One connection from the provider's side, after its setup. */
export type LiveSession = ReturnType<typeof createSession>

const waitMs = 60_000

/** `setup` as the client sent it. */
export function createSession(socket: WebSocket, setup: Message) {
  const received: Message[] = []
  const closed = Promise.withResolvers<{ code: number }>()
  let read = 0
  let audio = Buffer.alloc(0)
  let isClosed = false
  let changed = Promise.withResolvers<void>()
  const wake = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  socket.on('close', (code) => {
    isClosed = true
    closed.resolve({ code })
    wake()
  })

  async function until<T>(find: () => T | undefined, what: string): Promise<T> {
    const deadline = Date.now() + waitMs
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (isClosed) throw new Error(`The connection was closed before ${what}.`)
      const remainingMs = deadline - Date.now()
      if (remainingMs <= 0) throw new Error(`Timed out waiting for ${what}.`)
      const timer = Promise.withResolvers<void>()
      const timeout = setTimeout(timer.resolve, remainingMs)
      await Promise.race([changed.promise, timer.promise])
      clearTimeout(timeout)
    }
  }

  const send = (message: object) => socket.send(Buffer.from(JSON.stringify(message)))

  return {
    setup,
    received,
    send,
    closed: closed.promise,
    /** The audio received so far, at 16 kHz. */
    audio: () => audio,
    take(message: Message): void {
      const blob = message.realtimeInput?.audio
      if (blob) audio = Buffer.concat([audio, Buffer.from(blob.data, 'base64')])
      received.push(message)
      wake()
    },

    /** Returns the next message with this field, waiting for it if needed. Skips other messages. */
    next: (field: 'toolResponse' | 'clientContent' | 'text' | 'audioStreamEnd'): Promise<Message> =>
      until(() => {
        while (read < received.length) {
          const message = received[read++]
          const found = message[field] ?? message.realtimeInput?.[field]
          if (found !== undefined) return found
        }
        return undefined
      }, field),

    /** Resolves when this much audio has arrived in total. */
    heardFor: (milliseconds: number) =>
      until(
        () => (audio.length >= milliseconds * 32 ? audio.length : undefined),
        `${milliseconds} ms of speech`,
      ),

    /** Sends pieces of the person's transcribed speech. */
    hear(...pieces: string[]): void {
      for (const text of pieces) send({ serverContent: { inputTranscription: { text } } })
    },
    call(id: string, name: string, args: object): void {
      send({ toolCall: { functionCalls: [{ id, name, args }] } })
    },
    /** Sends audio and its text; ends the turn unless `ends` is false. */
    speak(
      text: string,
      { ends = true, milliseconds = 200 }: { ends?: boolean; milliseconds?: number } = {},
    ): void {
      const data = tone(milliseconds).toString('base64')
      send({
        serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data } }] } },
      })
      send({ serverContent: { outputTranscription: { text } } })
      if (!ends) return
      send({ serverContent: { generationComplete: true } })
      send({ serverContent: { turnComplete: true } })
    },
    interrupt(): void {
      send({ serverContent: { interrupted: true } })
      send({ serverContent: { turnComplete: true } })
    },
    /** Sends a handle for resuming the session on another connection. */
    give: (handle: string) => send({ sessionResumptionUpdate: { newHandle: handle, resumable: true } }),
    goAway: () => send({ goAway: { timeLeft: '10s' } }),
    close: (code: number, reason = '') => socket.close(code, reason),
    cut: () => socket.terminate(),
  }
}
