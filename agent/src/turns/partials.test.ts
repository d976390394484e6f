import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxPieceLength } from '@roost/contracts/link/transcript'
import { createFakeClock } from '../kit/fake-clock.ts'
import { createPartials } from './partials.ts'

test('the first piece is sent immediately, pieces within the next 30 ms are sent together', async () => {
  const clock = createFakeClock()
  const sent: string[] = []
  const partials = createPartials(clock, (kind, text) => sent.push(`${kind}:${text}`))
  partials.add('text', 'a')
  assert.deepEqual(sent, ['text:a'])
  partials.add('text', 'b')
  partials.add('text', 'c')
  await clock.advance(30)
  assert.deepEqual(sent, ['text:a', 'text:bc'])
  partials.add('text', 'd')
  await clock.advance(30)
  await clock.advance(30)
  partials.add('text', 'e')
  assert.deepEqual(sent, ['text:a', 'text:bc', 'text:d', 'text:e'])
})

test('another kind or a following line flushes collected pieces first', async () => {
  const clock = createFakeClock()
  const sent: string[] = []
  const partials = createPartials(clock, (kind, text) => sent.push(`${kind}:${text}`))
  partials.add('thinking', 'a')
  partials.add('thinking', 'b')
  partials.add('text', 'c')
  partials.flush()
  assert.deepEqual(sent, ['thinking:a', 'thinking:b', 'text:c'])
  assert.deepEqual(clock.pending(), [])
})

test('pieces have their offset in their block', async () => {
  const clock = createFakeClock()
  const sent: [kind: string, at: number][] = []
  const partials = createPartials(clock, (kind, _text, at) => sent.push([kind, at]))
  partials.add('text', 'four')
  partials.add('text', 'more')
  partials.add('thinking', 'hm')
  partials.flush()
  partials.close(['thinking'])
  partials.add('text', 'end')
  partials.flush()
  partials.close(['text'])
  partials.add('text', 'new')
  partials.flush()
  assert.deepEqual(sent, [
    ['text', 0],
    ['text', 4],
    ['thinking', 0],
    ['text', 8],
    ['text', 0],
  ])
  sent.length = 0
  partials.add('thinking', 'x'.repeat(maxPieceLength + 1))
  assert.deepEqual(sent, [
    ['thinking', 0],
    ['thinking', maxPieceLength],
  ])
})
