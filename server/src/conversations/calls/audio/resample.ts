/**
 * Changes the sample rate of a stream that arrives in pieces; samples at the edges carry over. Lowering the rate needs
 * a low-pass filter, or higher frequencies would return as noise.
 */
export type Resampler = {
  next(samples: Int16Array): Int16Array
  /** Starts a new stream, and drops the samples carried over. */
  reset(): void
}

/** 8 → 16 kHz by linear interpolation. Delays the signal by one sample. */
export function doubleRate(): Resampler {
  let last = 0
  return {
    next(samples) {
      const out = new Int16Array(samples.length * 2)
      samples.forEach((sample, index) => {
        out[2 * index] = (last + sample) >> 1
        out[2 * index + 1] = sample
        last = sample
      })
      return out
    },
    reset() {
      last = 0
    },
  }
}

/** 24 → 8 kHz: a low-pass filter at 3.4 kHz, as telephones have, then every third sample. */
export function thirdRate(): Resampler {
  let history = new Float64Array(taps.length - 1)
  /** Samples to skip before the next output sample. */
  let skip = 0
  return {
    next(samples) {
      const samplesWithHistory = new Float64Array(history.length + samples.length)
      samplesWithHistory.set(history)
      samplesWithHistory.set(samples, history.length)
      const out = new Int16Array(Math.max(0, Math.ceil((samples.length - skip) / 3)))
      for (let index = 0; index < out.length; index += 1) {
        out[index] = clamp(filterAt(samplesWithHistory, skip + 3 * index))
      }
      skip = skip + 3 * out.length - samples.length
      history = samplesWithHistory.slice(samples.length)
      return out
    },
    reset() {
      history = new Float64Array(taps.length - 1)
      skip = 0
    },
  }
}

const tapCount = 49
/** As a fraction of 24 kHz. */
const cutoff = 3_400 / 24_000
/** A Hamming-windowed sinc that sums to one, so that loudness is unchanged. */
const taps = lowPass()

function lowPass(): Float64Array {
  const middle = (tapCount - 1) / 2
  const raw = Float64Array.from({ length: tapCount }, (_, index) => {
    const x = index - middle
    const sinc = x === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * x) / (Math.PI * x)
    return sinc * (0.54 - 0.46 * Math.cos((2 * Math.PI * index) / (tapCount - 1)))
  })
  const sum = raw.reduce((total, tap) => total + tap, 0)
  return raw.map((tap) => tap / sum)
}

/** The filter's output for the window of `taps.length` samples from `from`. */
function filterAt(samplesWithHistory: Float64Array, start: number): number {
  let sum = 0
  for (let tap = 0; tap < taps.length; tap += 1)
    sum += (samplesWithHistory[start + tap] ?? 0) * (taps[tap] ?? 0)
  return sum
}

function clamp(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)))
}
