import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStreak } from './log-streak.ts'

test('logs the first failure, each other kind and the recovery, but not every attempt', () => {
  const lines: string[] = []
  const write = (level: string) => (fields: Record<string, unknown>, message: string) => {
    lines.push(`${level} ${message}${'failures' in fields ? ` ${fields.failures}` : ''}`)
  }
  const log = { debug: write('debug'), info: write('info'), warn: write('warn') }
  const streak = createStreak(log, { failing: 'asking failed', over: 'asking works again' })
  const refused = (port: number) => Object.assign(new Error(`refused at ${port}`), { code: 'ECONNREFUSED' })
  const firstFailure = 'warn asking failed; retrying; repeated failures are not logged'
  streak.worked()
  assert.deepEqual(lines.splice(0), [])
  streak.failed(refused(1))
  streak.failed(refused(2))
  streak.failed(new Error('no answer'))
  streak.failed(refused(1))
  assert.deepEqual(lines.splice(0), [
    firstFailure,
    'debug asking failed',
    firstFailure,
    'debug asking failed',
  ])
  streak.worked()
  streak.worked()
  assert.deepEqual(lines.splice(0), ['info asking works again 4'])
  streak.failed(refused(1))
  assert.deepEqual(lines, [firstFailure])
})
