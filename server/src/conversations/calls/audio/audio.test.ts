import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeMulaw, encodeMulaw } from './mulaw.ts'
import { doubleRate, type Resampler, thirdRate } from './resample.ts'
import { telephoneToVoice, voiceToTelephone } from './wires.ts'

const tone = (hertz: number, rate: number, seconds = 0.5, loud = 8_000) =>
  Int16Array.from({ length: rate * seconds }, (_, n) => Math.sin((2 * Math.PI * hertz * n) / rate) * loud)

/** How strongly one tone is in it, from 0: its amplitude. */
function amplitude(samples: Int16Array, hertz: number, rate: number): number {
  let [sine, cosine] = [0, 0]
  samples.forEach((sample, n) => {
    sine += sample * Math.sin((2 * Math.PI * hertz * n) / rate)
    cosine += sample * Math.cos((2 * Math.PI * hertz * n) / rate)
  })
  return (2 * Math.hypot(sine, cosine)) / samples.length
}

test('μ-law: the values of G.711, and every byte comes back from its own sample', () => {
  assert.deepEqual([...decodeMulaw(Uint8Array.of(0xff, 0x7f, 0x80, 0x00))], [0, 0, 32_124, -32_124])
  assert.deepEqual(
    [...encodeMulaw(Int16Array.of(0, 32_767, -32_768, 1_000, -1_000))],
    [0xff, 0x80, 0, 0xce, 0x4e],
  )
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const again = encodeMulaw(decodeMulaw(bytes))
  // There are two zeros.
  assert.deepEqual([...again].with(0x7f, 0x7f), [...bytes])
})

test('μ-law errs by a fraction of what is said, not more', () => {
  for (let sample = -32_000; sample <= 32_000; sample += 37) {
    const [heard = 0] = decodeMulaw(encodeMulaw(Int16Array.of(sample)))
    assert.ok(Math.abs(heard - sample) <= Math.max(8, Math.abs(sample) / 16), `${sample} is ${heard}`)
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

test('what a telephone cannot carry does not come back as another tone', () => {
  const third = thirdRate().next(tone(7_000, 24_000))
  // 7 kHz would be heard as 1 kHz.
  assert.ok(amplitude(third, 1_000, 8_000) < 100)
})

test('pieces of any length give the same as the whole', () => {
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

test('both ways between a telephone and the voice: rates, and a sample cut in two', () => {
  const heard = telephoneToVoice()(encodeMulaw(tone(440, 8_000)))
  assert.equal(heard.length, 4_000 * 2 * 2)
  const said = voiceToTelephone()
  const samples = tone(440, 24_000)
  const pcm = Buffer.from(samples.buffer)
  const spoken = [said.next(pcm.subarray(0, 1_001)), said.next(pcm.subarray(1_001))]
  assert.deepEqual(Buffer.concat(spoken), Buffer.from(voiceToTelephone().next(pcm)))
  said.reset()
  assert.deepEqual(Buffer.from(said.next(pcm)), Buffer.from(voiceToTelephone().next(pcm)))
})
