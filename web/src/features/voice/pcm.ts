/** The audio format on the wire: 16-bit little-endian samples in base64. */

export const sentRate = 16_000
export const gotRate = 24_000

/** Resamples the microphone to 16 kHz, chunk by chunk, without gaps. */
export function createResampler(fromRate: number, toRate: number = sentRate) {
  const step = fromRate / toRate
  /** The position of the next sample relative to the next chunk; `last` is the sample before it. */
  let at = 0
  let last = 0
  return (piece: Float32Array): Int16Array => {
    const samples: number[] = []
    for (; at < piece.length; at += step) {
      const index = Math.floor(at)
      const before = index === 0 ? last : (piece[index - 1] ?? 0)
      const here = piece[index] ?? 0
      samples.push(before + (here - before) * (at - index))
    }
    at -= piece.length
    last = piece.at(-1) ?? last
    return Int16Array.from(samples, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767))
  }
}

export function toBase64(samples: Int16Array): string {
  const view = new DataView(new ArrayBuffer(samples.length * 2))
  for (const [index, sample] of samples.entries()) view.setInt16(index * 2, sample, true)
  let text = ''
  for (let at = 0; at < view.byteLength; at += 1) text += String.fromCharCode(view.getUint8(at))
  return btoa(text)
}

export function fromBase64(data: string): Float32Array<ArrayBuffer> {
  const text = atob(data)
  const view = new DataView(Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer)
  const samples = new Float32Array(Math.floor(view.byteLength / 2))
  for (const index of samples.keys()) samples[index] = view.getInt16(index * 2, true) / 32_768
  return samples
}
