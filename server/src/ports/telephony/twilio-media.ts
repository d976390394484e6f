import { z } from 'zod'
import type { MediaFrame } from './port.ts'

const Start = z.object({
  start: z.object({
    streamSid: z.string().min(1).max(64),
    callSid: z.string().min(1).max(64),
    customParameters: z.record(z.string(), z.string()).optional(),
    mediaFormat: z.object({
      encoding: z.literal('audio/x-mulaw'),
      sampleRate: z.literal(8000),
      channels: z.literal(1),
    }),
  }),
})
const Media = z.object({ media: z.object({ payload: z.base64() }) })
const Mark = z.object({ mark: z.object({ name: z.string() }) })
const Any = z.object({ event: z.string() })

/** Parses a message of a bidirectional media stream. Throws for invalid messages. */
export function readFrame(text: string): MediaFrame | null {
  const message: unknown = JSON.parse(text)
  switch (Any.parse(message).event) {
    case 'start': {
      const { streamSid, callSid, customParameters } = Start.parse(message).start
      const ticket = customParameters?.ticket ?? null
      return { type: 'start', streamId: streamSid, providerCallId: callSid, ticket }
    }
    case 'media':
      return { type: 'audio', mulaw: Buffer.from(Media.parse(message).media.payload, 'base64') }
    case 'mark':
      return { type: 'mark', name: Mark.parse(message).mark.name }
    case 'stop':
      return { type: 'stop' }
    default:
      // `connected`, `dtmf` and future events.
      return null
  }
}

export function audioFrame(streamSid: string, mulaw: Uint8Array): string {
  const payload = Buffer.from(mulaw.buffer, mulaw.byteOffset, mulaw.byteLength).toString('base64')
  return JSON.stringify({ event: 'media', streamSid, media: { payload } })
}

export function markFrame(streamSid: string, name: string): string {
  return JSON.stringify({ event: 'mark', streamSid, mark: { name } })
}

export function clearFrame(streamSid: string): string {
  return JSON.stringify({ event: 'clear', streamSid })
}
