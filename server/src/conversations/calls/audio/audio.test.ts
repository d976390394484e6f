import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeMulaw, encodeMulaw } from './mulaw.ts'
import { doubleRate, type Resampler, thirdRate } from './resample.ts'
import { telephoneToVoice, voiceToTelephone } from './wires.ts'

const tone = (hertz: number, rate: number, seconds = 0.5, volume = 8_000) =>
  Int16Array.from({ length: rate * seconds }, (_, n) => Math.sin((2 * Math.PI * hertz * n) / rate) * volume)

/** Amplitude of one tone in the samples. */
function amplitude(samples: Int16Array, hertz: number, rate: number): number {
  let [sine, cosine] = [0, 0]
  samples.forEach((sample, n) => {
    sine += sample * Math.sin((2 * Math.PI * hertz * n) / rate)
    cosine += sample * Math.cos((2 * Math.PI * hertz * n) / rate)
  })
  return (2 * Math.hypot(sine, cosine)) / samples.length
}

test('μ-law matches the values of G.711, and every byte survives a round trip', () => {
  assert.deepEqual([...decodeMulaw(Uint8Array.of(0xff, 0x7f, 0x80, 0x00))], [0, 0, 32_124, -32_124])
  assert.deepEqual(
    [...encodeMulaw(Int16Array.of(0, 32_767, -32_768, 1_000, -1_000))],
    [0xff, 0x80, 0, 0xce, 0x4e],
  )
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const roundTrip = encodeMulaw(decodeMulaw(bytes))
  // G.711 has two zeros, and 0x7f decodes to the other one.
  assert.deepEqual([...roundTrip].with(0x7f, 0x7f), [...bytes])
})

test('the error of μ-law stays a small fraction of the sample', () => {
  for (let sample = -32_000; sample <= 32_000; sample += 37) {
    const [decoded = 0] = decodeMulaw(encodeMulaw(Int16Array.of(sample)))
    assert.ok(Math.abs(decoded - sample) <= Math.max(8, Math.abs(sample) / 16), `${sample} is ${decoded}`)
  }
})

test('a tone keeps its pitch and loudness at twice and at a third of the rate', () => {
  const doubled = doubleRate().next(tone(440, 8_000))
  assert.equal(doubled.length, 8_000)
  assert.ok(Math.abs(amplitude(doubled, 440, 16_000) - 8_000) < 200)
  const third = thirdRate().next(tone(440, 24_000))
  assert.equal(third.length, 4_000)
  assert.ok(Math.abs(amplitude(third, 440, 8_000) - 8_000) < 200)
})

test('frequencies above the telephone band do not alias', () => {
  const third = thirdRate().next(tone(7_000, 24_000))
  // 7 kHz would alias to 1 kHz.
  assert.ok(amplitude(third, 1_000, 8_000) < 100)
})

test('pieces of any length give the same samples as the whole', () => {
  for (const make of [doubleRate, thirdRate] as (() => Resampler)[]) {
    const whole = tone(300, 24_000, 0.1)
    const expected = [...make().next(whole)]
    const inPieces = make()
    const pieces: number[] = []
    for (let at = 0, length = 1; at < whole.length; at += length, length = (length * 7) % 50) {
      length ||= 1
      pieces.push(...inPieces.next(whole.subarray(at, at + length)))
    }
    assert.deepEqual(pieces, expected)
  }
})

test('conversion between telephone and voice keeps the rates, and joins a sample cut in two', () => {
  const decoded = telephoneToVoice()(encodeMulaw(tone(440, 8_000)))
  assert.equal(decoded.length, 4_000 * 2 * 2)
  const converter = voiceToTelephone()
  const samples = tone(440, 24_000)
  const pcm = Buffer.from(samples.buffer)
  const spoken = [converter.next(pcm.subarray(0, 1_001)), converter.next(pcm.subarray(1_001))]
  assert.deepEqual(Buffer.concat(spoken), Buffer.from(voiceToTelephone().next(pcm)))
  converter.reset()
  assert.deepEqual(Buffer.from(converter.next(pcm)), Buffer.from(voiceToTelephone().next(pcm)))
})
