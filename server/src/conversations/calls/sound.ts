import type { MediaFrame, Telephony } from '../../ports/telephony/port.ts'
import type { LiveVoice } from '../../ports/voice/port.ts'
import { telephoneToVoice, voiceToTelephone } from './audio/wires.ts'

/** The media socket of one call, after its ticket was accepted. */
export type MediaLine = {
  streamId: string
  send(text: string): void
  /** Incoming frames, including buffered ones. One listener for each kind. */
  onAudio(onAudioFrame: (mulaw: Uint8Array) => void): void
  onMark(onAudioFrame: (name: string) => void): void
  /**
   * The provider or the socket closed, or the platform stops (`lost`). Fires immediately when that has already
   * happened.
   */
  onEnd(listener: (how: 'hung_up' | 'lost') => void): void
  close(): void
}

/** Audio buffered until the voice is connected: 5 seconds of μ-law at 8 kHz. */
const maxBufferedBytes = 5 * 8_000
/** About half a minute of unsent speech: the provider has stopped reading. */
export const maxUnsentBytes = 512 * 1024

/** Sends the person's audio to the voice. */
export function forwardAudio(media: Pick<MediaLine, 'onAudio'>, live: Pick<LiveVoice, 'sendAudio'>): void {
  const convert = telephoneToVoice()
  media.onAudio((mulaw) => void live.sendAudio(convert(mulaw)))
}

/** Sends the voice's audio to the person, who may interrupt it. */
export function createVoiceOutput(
  media: Pick<MediaLine, 'streamId' | 'send'>,
  telephony: Pick<Telephony, 'audioFrame' | 'markFrame' | 'clearFrame'>,
) {
  const convert = voiceToTelephone()
  return {
    say(pcm24k: Buffer): void {
      const mulaw = convert.next(pcm24k)
      if (mulaw.length > 0) media.send(telephony.audioFrame(media.streamId, mulaw))
    },
    /** Drops audio that the provider has buffered and not played. */
    stop(): void {
      convert.reset()
      media.send(telephony.clearFrame(media.streamId))
    },
    mark(name: string): void {
      media.send(telephony.markFrame(media.streamId, name))
    },
  }
}
export type VoiceOutput = ReturnType<typeof createVoiceOutput>

/** Delivers the frames of one call in order; buffers early audio for a few seconds. */
export function createFrames() {
  let onAudioFrame: ((mulaw: Uint8Array) => void) | null = null
  let onMarkFrame: (name: string) => void = () => {}
  let buffered: Buffer[] = []
  let bytes = 0
  function buffer(mulaw: Buffer): void {
    buffered.push(mulaw)
    bytes += mulaw.length
    while (bytes > maxBufferedBytes) bytes -= buffered.shift()?.length ?? bytes
  }
  return {
    receive(frame: Exclude<MediaFrame, { type: 'start' | 'stop' }>): void {
      if (frame.type === 'mark') onMarkFrame(frame.name)
      else if (onAudioFrame) onAudioFrame(frame.mulaw)
      else buffer(frame.mulaw)
    },
    onAudio(listener: (mulaw: Uint8Array) => void): void {
      onAudioFrame = listener
      for (const mulaw of buffered) listener(mulaw)
      buffered = []
    },
    onMark(listener: (name: string) => void): void {
      onMarkFrame = listener
    },
  }
}
