import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWriters } from './writers.ts'

const switching = { canSwitch: async () => true }
const nobody = () => []
const createQuiet = (identities = switching) => createWriters(identities, nobody, nobody)

test('nothing was written after a record until somebody begins, and after the end until the next record', async () => {
  const writers = createQuiet()
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveChanged(), 'nothing')
  writers.began()
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.ended()
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveChanged(), 'nothing')
})

test('a writer that starts or works during the scan counts', async () => {
  const writers = createQuiet()
  const mark = writers.mark()
  writers.began()
  writers.ended()
  writers.recorded(mark)
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.began()
  writers.recorded(writers.mark())
  writers.ended()
  assert.equal(await writers.mayHaveChanged(), 'all')
})

test('a process that a turn left behind counts, also one that ended between scan and question', async () => {
  let running: number[] = []
  const writers = createWriters(switching, nobody, () => running)
  writers.recorded(writers.mark())
  running = [17]
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.recorded(writers.mark())
  running = []
  assert.equal(await writers.mayHaveChanged(), 'all')
})

test('logins and containers with one user are always scanned', async () => {
  const writers = createQuiet()
  writers.allowLogins(true)
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.allowLogins(false)
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveChanged(), 'nothing')

  const single = createQuiet({ canSwitch: async () => false })
  single.recorded(single.mark())
  assert.equal(await single.mayHaveChanged(), 'all')
})

test("the owner's CLI that waits for a message writes to hidden folders only, and anybody else everywhere", async () => {
  const waiting = 17
  let running = [waiting]
  let idle = [waiting]
  const writers = createWriters(
    switching,
    () => idle,
    (except) => running.filter((pid) => !except.includes(pid)),
  )
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveChanged(), 'hidden')
  running.push(18)
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.recorded(writers.mark())
  running = [waiting]
  assert.equal(await writers.mayHaveChanged(), 'all')
  writers.recorded(writers.mark())
  // It may have written before it ended.
  running = []
  idle = []
  assert.equal(await writers.mayHaveChanged(), 'hidden')
  writers.recorded(writers.mark())
  assert.equal(await writers.mayHaveChanged(), 'nothing')
  running = [waiting]
  assert.equal(await writers.mayHaveChanged(), 'all')
})
