import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { raiseFence, Superseded, supersededExit } from './fence.ts'
import { createFakeClock } from './kit/fake-clock.ts'
import { prepareProgram } from './test/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'roost-fence-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newFile = () => join(folder, String(files++))

function prepare(file: string, start: number, waitMs = 0) {
  const clock = createFakeClock()
  const superseded: number[] = []
  const log = { warn() {} }
  const raised = raiseFence({ file, start, waitMs, clock, log, onSuperseded: () => superseded.push(start) })
  return { clock, superseded, raised }
}

test('a newer start ends the older program, and keeps the workspace', async () => {
  const file = newFile()
  const older = prepare(file, 1)
  await older.raised
  await older.clock.advance(10_000)
  assert.deepEqual(older.superseded, [])
  const newer = prepare(file, 2)
  await newer.raised
  await older.clock.advance(1_000)
  assert.deepEqual(older.superseded, [1])
  await newer.clock.advance(10_000)
  assert.deepEqual(newer.superseded, [])
})

test('an older start never gets the workspace back', async () => {
  const file = newFile()
  await prepare(file, 2).raised
  await assert.rejects(prepare(file, 1).raised, Superseded)
})

test('a start after a takeover writes nothing else until the older one had time to notice', async () => {
  const file = newFile()
  const older = prepare(file, 7)
  await older.raised
  const newer = prepare(file, 8, 10_000)
  let isReady = false
  void newer.raised.then(() => {
    isReady = true
  })
  await older.clock.advance(1_000)
  assert.deepEqual(older.superseded, [7])
  await newer.clock.advance(9_999)
  assert.equal(isReady, false)
  await newer.clock.advance(1)
  assert.equal(isReady, true)
})

test('a number that an older program wrote late is corrected, and the older program ends', async () => {
  const file = newFile()
  const newer = prepare(file, 8)
  await newer.raised
  writeFileSync(file, '0000000000000007')
  await newer.clock.advance(1_000)
  assert.deepEqual(newer.superseded, [])
  assert.equal(Number(readFileSync(file, 'latin1')), 8)
})

test('of two starts that wait, the newer one gets the workspace', async () => {
  const file = newFile()
  const first = prepare(file, 3, 10_000)
  const second = prepare(file, 4, 10_000)
  const refused = assert.rejects(first.raised, Superseded)
  await first.clock.advance(10_000)
  await refused
  await second.clock.advance(10_000)
  await second.raised
})

test('a damaged file is ignored', async () => {
  const file = newFile()
  writeFileSync(file, 'not a number')
  await prepare(file, 1).raised
})

test('a program that a newer container supersedes ends with all its processes', async () => {
  await using t = await prepareProgram()
  t.warm()
  const older = t.start('start.ts', { ROOST_START_NUMBER: '1' })
  const ended = new Promise((done) => older.once('exit', (code) => done(code)))
  await t.hello(1)
  t.start('start.ts', { ROOST_START_NUMBER: '2' })
  await t.hello(2)
  assert.equal(await ended, supersededExit)
  const again = t.start('start.ts', { ROOST_START_NUMBER: '1' })
  assert.equal(await new Promise((done) => again.once('exit', (code) => done(code))), supersededExit)
})
