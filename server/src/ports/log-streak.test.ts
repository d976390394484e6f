import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStreak } from './log-streak.ts'

test('tells of the first failure, of each other kind, and of the end; not of every try', () => {
  const lines: string[] = []
  const write = (level: string) => (fields: Record<string, unknown>, message: string) => {
    lines.push(`${level} ${message}${'failures' in fields ? ` ${fields.failures}` : ''}`)
  }
  const log = { debug: write('debug'), info: write('info'), warn: write('warn') }
  const streak = createStreak(log, { failing: 'asking failed', over: 'asking works again' })
  const refused = (port: number) => Object.assign(new Error(`refused at ${port}`), { code: 'ECONNREFUSED' })
  const told = 'warn asking failed; it is tried again and again, which is not told each time'
  streak.worked()
  assert.deepEqual(lines.splice(0), [])
  streak.failed(refused(1))
  streak.failed(refused(2))
  streak.failed(new Error('no answer'))
  streak.failed(refused(1))
  assert.deepEqual(lines.splice(0), [told, 'debug asking failed', told, 'debug asking failed'])
  streak.worked()
  streak.worked()
  assert.deepEqual(lines.splice(0), ['info asking works again 4'])
  streak.failed(refused(1))
  assert.deepEqual(lines, [told])
})
