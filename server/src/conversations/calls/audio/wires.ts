import { decodeMulaw, encodeMulaw } from './mulaw.ts'
import { doubleRate, thirdRate } from './resample.ts'

/** Converts telephone audio for the voice: μ-law at 8 kHz to PCM at 16 kHz. */
export function telephoneToVoice(): (mulaw: Uint8Array) => Buffer {
  const rate = doubleRate()
  return (mulaw) => {
    const samples = rate.next(decodeMulaw(mulaw))
    const pcm = Buffer.alloc(samples.length * 2)
    samples.forEach((sample, index) => {
      pcm.writeInt16LE(sample, index * 2)
    })
    return pcm
  }
}

/** Converts voice audio for the telephone: PCM at 24 kHz to μ-law at 8 kHz. */
export function voiceToTelephone(): { next(pcm24k: Buffer): Uint8Array; reset(): void } {
  const rate = thirdRate()
  /** Half a sample, when a piece has an odd number of bytes. */
  let rest = Buffer.alloc(0)
  return {
    next(pcm24k) {
      const bytes = rest.length === 0 ? pcm24k : Buffer.concat([rest, pcm24k])
      const samples = new Int16Array(bytes.length >> 1)
      for (let index = 0; index < samples.length; index += 1) samples[index] = bytes.readInt16LE(index * 2)
      rest = Buffer.from(bytes.subarray(samples.length * 2))
      return encodeMulaw(rate.next(samples))
    },
    reset() {
      rate.reset()
      rest = Buffer.alloc(0)
    },
  }
}
