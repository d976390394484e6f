import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResampler, fromBase64, toBase64 } from './pcm.ts'

const wave = (rate: number, seconds: number) =>
  Float32Array.from({ length: rate * seconds }, (_, at) => Math.sin((2 * Math.PI * 440 * at) / rate) / 2)

for (const rate of [16_000, 44_100, 48_000]) {
  test(`speech of ${rate} Hz keeps its length and sound for any chunk size`, () => {
    const whole = wave(rate, 1)
    const resample = createResampler(rate)
    const pieces: number[] = []
    for (let at = 0; at < whole.length; at += 128) pieces.push(...resample(whole.subarray(at, at + 128)))
    assert.ok(Math.abs(pieces.length - 16_000) <= 1, String(pieces.length))
    const loudest = Math.max(...pieces.map(Math.abs))
    assert.ok(loudest > 15_000 && loudest <= 16_384, String(loudest))
    // 440 Hz: two sign changes per period.
    const crossings = pieces.filter(
      (sample, at) => at > 0 && sample >= 0 !== (pieces[at - 1] ?? 0) >= 0,
    ).length
    assert.ok(Math.abs(crossings - 880) <= 2, String(crossings))
  })
}

test('samples that are too loud are clipped, not wrapped', () => {
  assert.deepEqual([...createResampler(16_000)(Float32Array.of(0, 2, -2))], [0, 0, 32_767])
})

test('samples survive a round trip', () => {
  const got = fromBase64(toBase64(Int16Array.of(0, 1, -1, 32_767, -32_768)))
  assert.deepEqual(
    [...got].map((value) => Math.round(value * 32_768)),
    [0, 1, -1, 32_767, -32_768],
  )
})
