import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWriters } from './writers.ts'

const switching = { canSwitch: async () => true }

test('nothing was written after a record until somebody begins, and after the end until the next record', async () => {
  const writers = createWriters(switching, () => [])
  assert.equal(await writers.mayHaveWritten(), true)
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveWritten(), false)
  writers.began()
  assert.equal(await writers.mayHaveWritten(), true)
  writers.ended()
  assert.equal(await writers.mayHaveWritten(), true)
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveWritten(), false)
})

test('a writer that starts or works during the scan counts', async () => {
  const writers = createWriters(switching, () => [])
  const mark = writers.mark()
  writers.began()
  writers.ended()
  writers.recorded(mark)
  assert.equal(await writers.mayHaveWritten(), true)
  writers.began()
  writers.recorded(writers.mark())
  writers.ended()
  assert.equal(await writers.mayHaveWritten(), true)
})

test('a process that a turn left behind counts, also one that ended between scan and question', async () => {
  let running: number[] = []
  const writers = createWriters(switching, () => running)
  writers.recorded(writers.mark())
  running = [17]
  assert.equal(await writers.mayHaveWritten(), true)
  writers.recorded(writers.mark())
  running = []
  assert.equal(await writers.mayHaveWritten(), true)
})

test('logins and containers with one user are always scanned', async () => {
  const writers = createWriters(switching, () => [])
  writers.allowLogins(true)
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveWritten(), true)
  writers.allowLogins(false)
  assert.equal(await writers.mayHaveWritten(), true)
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveWritten(), false)

  const single = createWriters({ canSwitch: async () => false }, () => [])
  single.recorded(single.mark())
  assert.equal(await single.mayHaveWritten(), true)
})
