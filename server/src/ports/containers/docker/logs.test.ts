import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLogFrames } from './logs.ts'

function frame(stream: 1 | 2, text: string | Buffer): Buffer {
  const payload = Buffer.from(text)
  const head = Buffer.alloc(8)
  head[0] = stream
  head.writeUInt32BE(payload.length, 4)
  return Buffer.concat([head, payload])
}

test('both streams are returned in the order they were written', () => {
  const frames = Buffer.concat([frame(1, 'one\n'), frame(2, 'two\n'), frame(1, 'three\n')])
  assert.equal(readLogFrames(frames), 'one\ntwo\nthree\n')
})

test('a character split between frames is complete, and a truncated last frame is kept', () => {
  const word = Buffer.from('é\n')
  const frames = Buffer.concat([
    frame(1, word.subarray(0, 1)),
    frame(1, word.subarray(1)),
    frame(1, 'cut off'),
  ])
  assert.equal(readLogFrames(frames.subarray(0, frames.length - 4)), 'é\ncut')
})

test('no output is an empty text', () => assert.equal(readLogFrames(Buffer.alloc(0)), ''))
