/** Converts between μ-law (G.711, one byte per sample) and 16-bit PCM. */
const bias = 0x84
const maxMagnitude = 32_635

/** Precomputed, because a call decodes 8,000 samples per second. */
const decodeTable = Int16Array.from({ length: 256 }, (_, byte) => decodeSample(byte))

export function decodeMulaw(mulaw: Uint8Array): Int16Array {
  return Int16Array.from(mulaw, (byte) => decodeTable[byte] ?? 0)
}

export function encodeMulaw(samples: Int16Array): Uint8Array {
  return Uint8Array.from(samples, encodeSample)
}

function decodeSample(byte: number): number {
  const bits = ~byte & 0xff
  const exponent = (bits >> 4) & 0x07
  const magnitude = ((((bits & 0x0f) << 3) + bias) << exponent) - bias
  return bits & 0x80 ? -magnitude : magnitude
}

function encodeSample(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(sample), maxMagnitude) + bias
  // Position of the highest bit, 7 to 14: the bias sets at least bit 7.
  const exponent = 24 - Math.clz32(magnitude)
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}
