import assert from 'node:assert/strict'
import { test } from 'node:test'
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
