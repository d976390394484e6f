import type { MediaFrame, Telephony } from '../../ports/telephony/port.ts'
import type { LiveVoice } from '../../ports/voice/port.ts'
import { telephoneToVoice, voiceToTelephone } from './audio/wires.ts'

/** The media socket of one call, past its ticket. */
export type Line = {
  streamId: string
  send(text: string): void
  /** Frames that come; those from before are told first. One listener for each kind. */
  onAudio(hear: (mulaw: Uint8Array) => void): void
  onMark(hear: (name: string) => void): void
  /** The provider has ended it, the socket is gone, or the platform stops (`lost`); at once when that has been. */
  onEnd(act: (how: 'hung_up' | 'lost') => void): void
  close(): void
}

/** μ-law of 8 kHz: so much of what was said before the voice is there is kept. */
const keptBytes = 5 * 8_000
/** Half a minute of speech that the provider has not taken: it takes nothing any more. */
export const mostUnsent = 512 * 1024

/** What the person says goes to the voice. */
export function listenTo(line: Pick<Line, 'onAudio'>, live: Pick<LiveVoice, 'sendAudio'>): void {
  const convert = telephoneToVoice()
  line.onAudio((mulaw) => void live.sendAudio(convert(mulaw)))
}

/** What the voice says goes to the person, who may interrupt it. */
export function createMouth(
  line: Pick<Line, 'streamId' | 'send'>,
  telephony: Pick<Telephony, 'audioFrame' | 'markFrame' | 'clearFrame'>,
) {
  const convert = voiceToTelephone()
  return {
    say(pcm24k: Buffer): void {
      const mulaw = convert.next(pcm24k)
      if (mulaw.length > 0) line.send(telephony.audioFrame(line.streamId, mulaw))
    },
    /** The provider plays what comes in a row: what it has not played yet is dropped. */
    stop(): void {
      convert.reset()
      line.send(telephony.clearFrame(line.streamId))
    },
    mark(name: string): void {
      line.send(telephony.markFrame(line.streamId, name))
    },
  }
}
export type Mouth = ReturnType<typeof createMouth>

/** Frames of one call, handed on in order; audio that nobody hears yet is kept for some seconds. */
export function createFrames() {
  let hear: ((mulaw: Uint8Array) => void) | null = null
  let hearMark: (name: string) => void = () => {}
  let kept: Buffer[] = []
  let bytes = 0
  function keep(mulaw: Buffer): void {
    kept.push(mulaw)
    bytes += mulaw.length
    while (bytes > keptBytes) bytes -= kept.shift()?.length ?? bytes
  }
  return {
    take(frame: Exclude<MediaFrame, { type: 'start' | 'stop' }>): void {
      if (frame.type === 'mark') hearMark(frame.name)
      else if (hear) hear(frame.mulaw)
      else keep(frame.mulaw)
    },
    onAudio(listener: (mulaw: Uint8Array) => void): void {
      hear = listener
      for (const mulaw of kept) listener(mulaw)
      kept = []
    },
    onMark(listener: (name: string) => void): void {
      hearMark = listener
    },
  }
}
