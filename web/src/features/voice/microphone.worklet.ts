/** Runs on the audio thread: forwards the microphone's samples in the format to send. */
import { createResampler } from './pcm.ts'

declare const sampleRate: number
declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void

/** A tenth of a second. */
const pieceLength = 1600

registerProcessor(
  'microphone',
  class extends AudioWorkletProcessor {
    private readonly resample = createResampler(sampleRate)
    private piece = new Int16Array(pieceLength)
    private filled = 0

    process(inputs: Float32Array[][]): boolean {
      const [channel] = inputs[0] ?? []
      for (const sample of channel ? this.resample(channel) : []) {
        this.piece[this.filled] = sample
        this.filled += 1
        if (this.filled < pieceLength) continue
        this.port.postMessage(this.piece, [this.piece.buffer])
        this.piece = new Int16Array(pieceLength)
        this.filled = 0
      }
      return true
    }
  },
)
