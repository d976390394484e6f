/**
 * Changes the rate of a stream of samples that comes in pieces: what is at the edge of a piece is kept for the next.
 * Making the rate lower needs a low pass before, or what telephones cannot carry would come back as noise.
 */
export type Resampler = {
  next(samples: Int16Array): Int16Array
  /** The stream begins anew: what was kept belongs to sound that is dropped. */
  reset(): void
}

/** 8 → 16 kHz: between two samples one that lies in the middle. Late by one sample. */
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

/** 24 → 8 kHz: of three samples one, behind a low pass that ends at 3.4 kHz as telephones do. */
export function thirdRate(): Resampler {
  let history = new Float64Array(taps.length - 1)
  /** How many of the samples that come are passed by before the next is taken. */
  let skip = 0
  return {
    next(samples) {
      const line = new Float64Array(history.length + samples.length)
      line.set(history)
      line.set(samples, history.length)
      const out = new Int16Array(Math.max(0, Math.ceil((samples.length - skip) / 3)))
      for (let index = 0; index < out.length; index += 1) {
        out[index] = clamped(filtered(line, skip + 3 * index))
      }
      skip = skip + 3 * out.length - samples.length
      history = line.slice(samples.length)
      return out
    },
    reset() {
      history = new Float64Array(taps.length - 1)
      skip = 0
    },
  }
}

const tapCount = 49
/** Of 24 kHz. */
const cutoff = 3_400 / 24_000
/** A windowed sinc (Hamming) whose sum is one, so that loudness stays. */
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

/** The filter's answer at the sample that stands `taps.length - 1` behind `from` in `line`. */
function filtered(line: Float64Array, from: number): number {
  let sum = 0
  for (let tap = 0; tap < taps.length; tap += 1) sum += (line[from + tap] ?? 0) * (taps[tap] ?? 0)
  return sum
}

function clamped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)))
}
