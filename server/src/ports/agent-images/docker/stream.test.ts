import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { type EngineLine, engineLines } from './stream.ts'

test('lines are complete however the answer is split, even inside a character', async () => {
  const bytes = Buffer.from('{"stream":"Schritt eins – fertig"}\r\n{"error":"nein"}\n{"status":"Ende"}')
  for (const size of [1, 2, 7, 1000]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    assert.deepEqual(await all(Readable.from(chunks)), [
      { stream: 'Schritt eins – fertig' },
      { error: 'nein' },
      { status: 'Ende' },
    ])
  }
})

test('text that is not JSON is passed on', async () => {
  assert.deepEqual(await all(Readable.from(['oops\n'])), [{ stream: 'oops' }])
})

async function all(answer: NodeJS.ReadableStream): Promise<EngineLine[]> {
  const lines: EngineLine[] = []
  for await (const line of engineLines(answer)) lines.push(line)
  return lines
}
