import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveTurn } from '../chat/live-turns.ts'
import { type Message, visibleMessages } from './visible-messages.ts'

const message = (id: string, role: Message['role'], content: string): Message => ({ id, role, content })
// Only what the function reads of a turn.
const turn = (phase: LiveTurn['phase'], text: string | null) =>
  ({ phase, question: text === null ? null : { message: text } }) as LiveTurn

test('a stored question of a running turn is shown once', () => {
  const stored = [
    message('1', 'user', 'Hello'),
    message('2', 'assistant', 'Hi'),
    message('3', 'user', 'And now?'),
  ]
  const live = [turn('working', 'And now? ')]
  assert.deepEqual(visibleMessages(stored, live), { stored: stored.slice(0, 2), live })
})

test('an earlier equal question stays, and an ended turn is shown from the stored messages', () => {
  const stored = [message('1', 'user', 'Hello'), message('2', 'assistant', 'Hi')]
  assert.deepEqual(visibleMessages(stored, [turn('ended', 'Hello')]), { stored, live: [] })
  const again = [turn('sending', 'Hello')]
  assert.deepEqual(visibleMessages(stored, again), { stored, live: again })
})

test('a turn of another tab keeps its stored question', () => {
  const stored = [message('1', 'user', 'Hello')]
  const live = [turn('working', null)]
  assert.deepEqual(visibleMessages(stored, live), { stored, live })
})
