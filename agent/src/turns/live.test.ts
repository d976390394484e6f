import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeClock } from '../kit/fake-clock.ts'
import type { Exit } from '../runtimes/port.ts'
import { createLivePool, type OwnedProcess } from './live.ts'

const fit = { signature: 'as it was', resumeSessionId: 'runtime-session' }

/** An idle process; `closed` is true once it was ended. */
function waiting(sessionId = 'runtime-session') {
  const end = Promise.withResolvers<Exit>()
  const state = { closed: false, running: true }
  const owned: OwnedProcess = {
    process: {
      pid: 1,
      exited: end.promise,
      isRunning: () => state.running,
      sessionId: () => sessionId,
      lastOutputAt: () => 0,
      turn: () => Promise.reject(new Error('not here')),
      interrupt: () => false,
      stop: () => end.promise,
      killDetached: async () => {},
      finish: () => end.promise,
    },
    close: async () => {
      state.closed = true
    },
  }
  return { owned, state, end: () => end.resolve({ code: 0, signal: null, stderr: '', isOutOfMemory: false }) }
}

test('the next turn of a conversation reuses its process, once', async () => {
  const pool = createLivePool(createFakeClock())
  const { owned } = waiting()
  pool.configure({ limit: 3, idleMs: 1000 })
  pool.put('s', fit.signature, owned)
  assert.equal(await pool.take('s', fit), owned)
  assert.equal(await pool.take('s', fit), null)
})

test('a process with other settings or another session is ended first', async () => {
  const changes = [{ signature: 'another' }, { resumeSessionId: 'another' }, { resumeSessionId: null }]
  for (const change of changes) {
    const pool = createLivePool(createFakeClock())
    const { owned, state } = waiting()
    pool.put('s', fit.signature, owned)
    assert.equal(await pool.take('s', { ...fit, ...change }), null)
    assert.equal(state.closed, true, JSON.stringify(change))
  }
})

test('an idle process is ended after the idle time', async () => {
  const clock = createFakeClock()
  const pool = createLivePool(clock)
  pool.configure({ limit: 3, idleMs: 1000 })
  const { owned, state } = waiting()
  pool.put('s', fit.signature, owned)
  await clock.advance(999)
  assert.equal(state.closed, false)
  await clock.advance(1)
  assert.equal(state.closed, true)
  assert.equal(pool.size(), 0)
})

test('above the limit the process that has been idle longest is ended', async () => {
  const pool = createLivePool(createFakeClock())
  pool.configure({ limit: 2, idleMs: 1000 })
  const all = ['a', 'b', 'c'].map((name) => ({ name, ...waiting() }))
  for (const { name, owned } of all) pool.put(name, fit.signature, owned)
  assert.deepEqual(
    all.map(({ state }) => state.closed),
    [true, false, false],
  )
  pool.configure({ limit: 1, idleMs: 1000 })
  assert.deepEqual(
    all.map(({ state }) => state.closed),
    [true, true, false],
  )
})

test('a process that has ended is not reused', async () => {
  const pool = createLivePool(createFakeClock())
  const { owned, state, end } = waiting()
  pool.put('s', fit.signature, owned)
  state.running = false
  end()
  await owned.process.exited
  assert.equal(await pool.take('s', fit), null)
  assert.equal(state.closed, true)
})
