import workletUrl from './microphone.worklet.ts?worker&url'
import { fromBase64, gotRate } from './pcm.ts'

export type Sound = {
  /** Plays received audio, chunk by chunk. */
  play(data: string): void
  /** Discards audio that was not played yet. */
  drop(): void
  setMuted(isMuted: boolean): void
  close(): void
}

/** The microphone and the speaker. Rejects when the user or the browser denies the microphone. */
export async function openSound(onSpeech: (samples: Int16Array) => void): Promise<Sound> {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  })
  const context = new AudioContext()
  const playing = new Set<AudioBufferSourceNode>()
  let nextAt = 0
  const close = () => {
    for (const track of stream.getTracks()) track.stop()
    if (context.state !== 'closed') void context.close()
  }
  try {
    await context.audioWorklet.addModule(workletUrl)
    const microphone = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0 })
    // The worklet posts nothing else.
    microphone.port.onmessage = ({ data }: MessageEvent<Int16Array>) => onSpeech(data)
    context.createMediaStreamSource(stream).connect(microphone)
    await context.resume()
  } catch (error) {
    close()
    throw error
  }
  return {
    play(data) {
      const samples = fromBase64(data)
      if (samples.length === 0) return
      const buffer = context.createBuffer(1, samples.length, gotRate)
      buffer.copyToChannel(samples, 0)
      const source = new AudioBufferSourceNode(context, { buffer })
      source.connect(context.destination)
      source.onended = () => playing.delete(source)
      playing.add(source)
      nextAt = Math.max(nextAt, context.currentTime + 0.05)
      source.start(nextAt)
      nextAt += buffer.duration
    },
    drop() {
      for (const source of playing) source.stop()
      playing.clear()
      nextAt = 0
    },
    setMuted(isMuted) {
      for (const track of stream.getAudioTracks()) track.enabled = !isMuted
    },
    close,
  }
}
