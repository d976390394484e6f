import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transcriptOf } from '../transcripts/transcript-of.ts'
import { searchSteps, timelineOf } from './timeline.ts'

const startedAt = '2026-03-01T10:00:00.000Z'
const at = (second: number) => new Date(Date.parse(startedAt) + second * 1000).toISOString()
const answer = (n: number, second: number, text: string) => ({
  type: 'assistant',
  _n: n,
  _ts: at(second),
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})
const call = (n: number, second: number, id: string, name: string, command: string) => ({
  type: 'assistant',
  _n: n,
  _ts: at(second),
  message: { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { command } }] },
})
const result = (n: number, second: number, id: string, content: string, isError = false) => ({
  type: 'user',
  _n: n,
  _ts: at(second),
  message: {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }],
  },
})
const start = { type: 'system', subtype: 'init', session_id: 's', model: 'm', tools: [], _n: 1, _ts: at(1) }

test('answers count as model time from the previous line, calls as tool time until the result', () => {
  const { steps } = transcriptOf([
    start,
    answer(2, 3, 'looking'),
    call(3, 4, 'a', 'Bash', 'ls'),
    result(4, 9, 'a', 'nothing', true),
    answer(5, 10, 'done'),
  ])
  const timeline = timelineOf(steps, { startedAt, nowMs: null })
  assert.deepEqual(
    timeline.segments.map(({ kind, label, startMs, durationMs }) => [kind, label, startMs, durationMs]),
    [
      ['model', 'Answer', 1000, 2000],
      ['model', 'Choosing tool', 3000, 1000],
      ['failed', 'Bash', 4000, 5000],
      ['model', 'Answer', 9000, 1000],
    ],
  )
  assert.equal(timeline.spanMs, 10_000)
  assert.equal(timeline.modelMs, 4000)
  assert.equal(timeline.toolMs, 5000)
})

test('a running call extends to now, and so does the axis', () => {
  const { steps } = transcriptOf([start, call(2, 2, 'a', 'Bash', 'sleep 60')])
  const timeline = timelineOf(steps, { startedAt, nowMs: Date.parse(startedAt) + 30_000 })
  assert.deepEqual(
    timeline.segments.map(({ isRunning, durationMs }) => [isRunning, durationMs]),
    [[true, 28_000]],
  )
  assert.equal(timeline.spanMs, 30_000)
})

test('the axis of a run without steps has no zero length', () => {
  assert.equal(timelineOf([], { startedAt, nowMs: null }).spanMs, 1)
})

test('a search matches steps that contain all words in answers, inputs and outputs', () => {
  const { steps } = transcriptOf([
    start,
    answer(2, 3, 'The backup failed'),
    call(3, 4, 'a', 'Bash', 'tar -czf backup.tgz'),
    result(4, 9, 'a', 'No space left on device'),
  ])
  const kinds = (text: string) => searchSteps(steps, text).map(({ kind }) => kind)
  assert.deepEqual(kinds('BACKUP'), ['text', 'tool'])
  assert.deepEqual(kinds('tar space'), ['tool'])
  assert.deepEqual(kinds('nowhere'), [])
  assert.equal(searchSteps(steps, '  '), steps)
})
