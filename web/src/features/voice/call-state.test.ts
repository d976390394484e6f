import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callAfter, newCall } from './call-state.ts'

const line = (role: 'user' | 'assistant', text: string, final: boolean) =>
  ({ type: 'transcript', role, text, final }) as const

test('a line grows until it is final, for both speakers at the same time', () => {
  const call = [
    line('user', 'What', false),
    line('assistant', 'Well', false),
    line('user', 'What time?', true),
    line('assistant', 'Well, noon.', true),
    line('user', 'Thanks', false),
  ].reduce(callAfter, newCall)
  assert.deepEqual(
    call.lines.map(({ role, text }) => [role, text]),
    [
      ['user', 'What time?'],
      ['assistant', 'Well, noon.'],
      ['user', 'Thanks'],
    ],
  )
})

test('a task is shown once with its latest state', () => {
  const task = (state: string) => ({ type: 'task', task_id: 't', label: 'the time', state }) as const
  assert.deepEqual([task('queued'), task('success')].reduce(callAfter, newCall).tasks, [
    { id: 't', label: 'the time', state: 'success' },
  ])
})

test('keeps the reason of the end', () => {
  const call = callAfter(newCall, { type: 'status', state: 'ended', reason: 'time_limit' })
  assert.deepEqual([call.state, call.reason], ['ended', 'time_limit'])
})
