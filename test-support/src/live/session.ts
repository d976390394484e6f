import type { WebSocket } from 'ws'
import { tone } from './audio.ts'

// Tests look into what they expect.
// biome-ignore lint/suspicious/noExplicitAny: any message
export type Message = any

/** One connection as the provider sees it, past its setup. */
export type LiveSession = ReturnType<typeof createSession>

const patienceMs = 60_000

/** `setup` as it was sent. */
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

  async function until<T>(look: () => T | undefined, what: string): Promise<T> {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      if (isClosed) throw new Error(`The connection was closed before ${what}.`)
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`There never was ${what}.`)
      const timer = Promise.withResolvers<void>()
      const timeout = setTimeout(timer.resolve, left)
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
    /** What was said to it so far, 16 kHz. */
    audio: () => audio,
    take(message: Message): void {
      const blob = message.realtimeInput?.audio
      if (blob) audio = Buffer.concat([audio, Buffer.from(blob.data, 'base64')])
      received.push(message)
      wake()
    },

    /** The next message with this field, received or to come; others before it are passed over. */
    next: (field: 'toolResponse' | 'clientContent' | 'text' | 'audioStreamEnd'): Promise<Message> =>
      until(() => {
        while (read < received.length) {
          const message = received[read++]
          const found = message[field] ?? message.realtimeInput?.[field]
          if (found !== undefined) return found
        }
        return undefined
      }, field),

    /** Resolves when so much speech has come in all. */
    heardFor: (milliseconds: number) =>
      until(
        () => (audio.length >= milliseconds * 32 ? audio.length : undefined),
        `${milliseconds} ms of speech`,
      ),

    /** What the person said, in pieces as they come. */
    hear(...pieces: string[]): void {
      for (const text of pieces) send({ serverContent: { inputTranscription: { text } } })
    },
    call(id: string, name: string, args: object): void {
      send({ toolCall: { functionCalls: [{ id, name, args }] } })
    },
    /** Speaks: sound and its text; ends the turn unless told otherwise. */
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
    /** What it may be carried on with over another connection. */
    give: (handle: string) => send({ sessionResumptionUpdate: { newHandle: handle, resumable: true } }),
    goAway: () => send({ goAway: { timeLeft: '10s' } }),
    close: (code: number, reason = '') => socket.close(code, reason),
    cut: () => socket.terminate(),
  }
}
