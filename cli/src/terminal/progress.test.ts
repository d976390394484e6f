import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duration } from './duration.ts'
import { createProgress } from './progress.ts'

function output(isTTY: boolean) {
  const written: string[] = []
  return { isTTY, columns: 40, write: (text: string) => written.push(text), written }
}

test('durations are formatted for people', () => {
  assert.deepEqual([400, 9_940, 12_300, 59_400, 185_000].map(duration), [
    '0.4 s',
    '9.9 s',
    '12 s',
    '59 s',
    '3 min 05 s',
  ])
})

test('without a terminal a quick step prints nothing and returns its result', async () => {
  const out = output(false)
  assert.equal(await createProgress(out, Date.now, 'xterm').step('Quick', async () => 7), 7)
  assert.deepEqual(out.written, [])
})

test('without a terminal each message of a step is a line, except transient ones', async () => {
  const out = output(false)
  let now = 0
  await createProgress(out, () => now).step('Building', async (report) => {
    report('first part')
    report('a detail', 'transient')
    now = 12_000
  })
  assert.deepEqual(out.written, ['Building …\n', '  first part\n', 'Building: done in 12 s\n'])
})

test('a dumb terminal gets plain lines that are never overwritten', async () => {
  const out = output(true)
  await createProgress(out, () => 0, 'dumb').step('Building', async (report) => report('first part'))
  assert.deepEqual(out.written, ['Building …\n', '  first part\n', 'Building: done in 0.0 s\n'])
})

test('a failing step prints its failure and rethrows the error', async () => {
  for (const isTTY of [true, false]) {
    const out = output(isTTY)
    await assert.rejects(
      createProgress(out, Date.now, 'xterm').step('Building', async () => {
        throw new Error('no room')
      }),
      /no room/,
    )
    assert.match(out.written.at(-1) ?? '', isTTY ? /^✗ Building/ : /^Building: failed after/)
  }
})

test('on a terminal the status fits its width and is cleared before a line', async () => {
  const out = output(true)
  const progress = createProgress(out, Date.now, 'xterm')
  await progress.step('A step with a rather long title', async (report) => {
    report('and even longer words about what it does')
    progress.line('a line')
  })
  for (const text of out.written) {
    assert.ok(text.replaceAll('\r\u001b[K', '').replaceAll('\n', '').length <= 39, JSON.stringify(text))
  }
  const at = out.written.indexOf('a line\n')
  assert.equal(out.written[at - 1], '\r\u001b[K')
})
