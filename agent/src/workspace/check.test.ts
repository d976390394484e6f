import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { maxCheckOutput } from '@roost/contracts/link/check'
import { systemClock } from '../kit/clock.ts'
import { createIdentities } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { createChecks } from './check.ts'

const identities = createIdentities({
  uid: process.getuid?.() ?? 0,
  hasAmbient: false,
  homeOwner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  hasSetpriv: false,
})

function open(waitMs = 20_000) {
  const place = makeTestHome()
  const { home } = place
  const checks = createChecks({
    ...{ home, identities, clock: systemClock, waitMs },
    environment: async () => ({ PATH: process.env.PATH ?? '', HOME: home }),
    written: (work) => work,
  })
  return { checks, home, [Symbol.dispose]: () => place[Symbol.dispose]() }
}

test('the exit code and both streams are recorded, from the home directory', async () => {
  using place = open()
  const command = 'echo one; echo two >&2; test "$PWD" = "$HOME" && exit 3'
  const answer = await place.checks.run({ id: 'a', command, seconds: 10 })
  const { state, exit_code, output, timed_out, truncated } = answer
  assert.deepEqual([state, exit_code, output], ['ended', 3, 'one\ntwo\n'])
  assert.deepEqual([timed_out, truncated], [false, false])
})

test('a repeated request waits for the same command, and then gets its outcome', async () => {
  using place = open(10)
  const request = { id: 'a', command: 'echo x >> count; sleep 0.3; wc -l < count', seconds: 10 }
  const first = await place.checks.run(request)
  assert.equal(first.state, 'running')
  await assert.rejects(place.checks.run({ ...request, id: 'b' }), /Another check/)
  let last = first
  while (last.state === 'running') last = await place.checks.run(request)
  assert.deepEqual([last.exit_code, last.output.trim()], [0, '1'])
  assert.deepEqual(await place.checks.run(request), last)
})

test('only the end of a long output is kept', async () => {
  using place = open()
  const command = 'yes 0123456789 | head -c 3000000; echo the end'
  const answer = await place.checks.run({ id: 'a', command, seconds: 20 })
  assert.equal(answer.output.length, maxCheckOutput)
  assert.ok(answer.truncated && answer.output.endsWith('the end\n'))
})

test('a command that exceeds its time limit is killed with its children', async () => {
  using place = open()
  const command = 'sleep 30 & echo early; sleep 30'
  const answer = await place.checks.run({ id: 'a', command, seconds: 0.3 })
  assert.deepEqual([answer.exit_code, answer.timed_out, answer.output], [null, true, 'early\n'])
})

test('a command that leaves children behind has ended in time, and they are killed', async () => {
  using place = open()
  const command = 'sleep 30 & (setsid sleep 30 &); echo $! > pid; exit 4'
  const answer = await place.checks.run({ id: 'a', command, seconds: 60 })
  assert.deepEqual([answer.exit_code, answer.timed_out], [4, false])
  assert.equal(isAlive(readFileSync(join(place.home, 'pid'), 'utf8').trim()), false)
})

test('bytes that are no text, a flood without line ends, and a kill of itself do no harm', async () => {
  using place = open()
  const command = 'head -c 5000 /dev/urandom; head -c 5000000 /dev/zero; kill -9 $$'
  const answer = await place.checks.run({ id: 'a', command, seconds: 60 })
  assert.deepEqual([answer.state, answer.exit_code, answer.timed_out], ['ended', null, false])
  assert.ok(answer.output.isWellFormed() && answer.output.length <= maxCheckOutput)
})

function isAlive(pid: string): boolean {
  try {
    // A killed process stays a zombie until its parent reaps it.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
