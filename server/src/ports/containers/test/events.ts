import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, type Opened, until } from './harness.ts'

/** Tests of the event stream, for every adapter of `Containers`. */
export function eventTests(opened: Opened): void {
  test('events start with resync and report start, end and removal in order', async () => {
    const events = collect(opened.containers)
    try {
      await events.next('resync')
      const desired = opened.spec('stay')
      const { id } = await opened.containers.create(desired)
      await opened.containers.start(id)
      assert.equal((await events.next('started', id)).name, desired.name)
      await opened.isReady(id)
      await opened.containers.stop(id, 10)
      const exited = await events.next('exited', id)
      assert.equal(exited.exitCode, 0)
      assert.equal(exited.oomKilled, false)
      await opened.containers.remove(id)
      assert.equal((await events.next('removed', id)).name, desired.name)
    } finally {
      await events.stop()
    }
  })

  test('events of another installation are not reported', async () => {
    const events = collect(opened.harness.neighbour)
    try {
      await events.next('resync')
      const own = await opened.running('stay')
      await opened.containers.stop(own, 10)
      const { id: theirs } = await opened.harness.neighbour.create(opened.spec('stay'))
      await opened.harness.neighbour.start(theirs)
      await events.next('started', theirs)
      assert.ok(events.seen.every((event) => event.type === 'resync' || event.id === theirs))
    } finally {
      await events.stop()
    }
  })

  test('an unexpected end is reported with its code, and the container restarts', async () => {
    const events = collect(opened.containers)
    try {
      await events.next('resync')
      const { id } = await opened.containers.create(opened.spec('fail'))
      await opened.containers.start(id)
      await events.next('started', id)
      const exited = await events.next('exited', id)
      assert.equal(exited.exitCode, 3)
      assert.equal(exited.oomKilled, false)
      await events.next('started', id)
      await events.next('exited', id)
      await opened.containers.stop(id, 1)
      const state = await opened.containers.inspect(id)
      assert.equal(state?.status, 'stopped')
      const runs = opened.harness.runsElsewhere ? /cannot go on/ : /cannot go on\n(.*\n)*cannot go on/
      assert.match(await opened.containers.logs(id, 100), runs)
    } finally {
      await events.stop()
    }
  })

  test('a crash is reported and the container restarts; a later stop is final', async () => {
    const id = await opened.running('stay')
    const events = collect(opened.containers)
    try {
      await events.next('resync')
      await opened.harness.crash(id)
      const exited = await events.next('exited', id)
      assert.equal(exited.exitCode, 137)
      assert.equal(exited.oomKilled, false)
      await events.next('started', id)
      await opened.containers.stop(id, 1)
      await events.next('exited', id)
      assert.equal((await opened.containers.inspect(id))?.status, 'stopped')
    } finally {
      await events.stop()
    }
  })

  test('the memory limit kills, and the end is marked as oomKilled', async (context) => {
    if (!opened.harness.tellsMemoryKills) return context.skip('this user has no control groups here')
    const events = collect(opened.containers)
    try {
      await events.next('resync')
      const { id } = await opened.containers.create(opened.spec('devour', { memoryBytes: 32 * 1024 * 1024 }))
      await opened.containers.start(id)
      const exited = await events.next('exited', id)
      assert.equal(exited.exitCode, 137)
      assert.equal(exited.oomKilled, true)
      // It restarts and is killed repeatedly; between two runs the state shows why.
      await until(async () => (await opened.containers.inspect(id))?.oomKilled === true)
      await opened.containers.stop(id, 0)
    } finally {
      await events.stop()
    }
  })

  test('a broken event stream resumes with resync', async () => {
    const events = collect(opened.containers)
    try {
      await events.next('resync')
      await opened.harness.interruptEvents()
      await events.next('resync')
      const { id } = await opened.containers.create(opened.spec('stay'))
      await opened.containers.start(id)
      await events.next('started', id)
    } finally {
      await events.stop()
    }
  })

  test('listening to an unreachable engine waits without an error until aborted', async () => {
    const events = collect(opened.harness.away)
    await new Promise((resolve) => setImmediate(resolve))
    await events.stop()
    assert.deepEqual(events.seen, [])
  })
}
