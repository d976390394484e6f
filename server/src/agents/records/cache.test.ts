import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { blankRow, createAgentRecords } from './index.ts'
import { type AgentPatch, agentStore } from './store.ts'

const created = '2030-01-01T00:00:00.000Z'
const maxAgeSeconds = 15

/** A topic that several caches of one test share; `gap` simulates an interrupted subscription. */
function openTopic() {
  const listeners = new Set<(message: string) => void>()
  const onGaps = new Set<() => void>()
  const ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'> = {
    async publish(_topic, message) {
      for (const listener of listeners) listener(message)
    },
    async subscribe(_topic, listener, onGap = () => {}) {
      listeners.add(listener)
      onGaps.add(onGap)
      return {
        async close() {
          listeners.delete(listener)
          onGaps.delete(onGap)
        },
      }
    },
  }
  const gap = () => {
    for (const onGap of onGaps) onGap()
  }
  return { ephemeral, gap }
}

/** The records of two agents, `one` and `two`, on a database whose reads are counted and can fail. */
async function openRecords() {
  const db = await openTestDatabase()
  const closed = await openTestDatabase()
  await closed[Symbol.asyncDispose]()
  const ids: Record<string, string> = {}
  for (const name of ['one', 'two']) {
    const row = { ...blankRow(name, created), state: 'ready' as const }
    assert.ok(await agentStore(db).insert(row))
    ids[name] = row.id
  }
  const idOf = (name: string) => ids[name] ?? assert.fail(name)
  const state = { loads: 0, isFailing: false, now: Date.parse(created) }
  const counted = {
    ...db,
    withTables: <Tables>() => {
      state.loads += 1
      return (state.isFailing ? closed : db).withTables<Tables>()
    },
  }
  const topic = openTopic()
  const open = () =>
    createAgentRecords({
      db: counted,
      ephemeral: topic.ephemeral,
      clock: { now: () => new Date(state.now) },
    })
  const records = open()
  return {
    state,
    topic,
    records,
    open,
    idOf,
    label: async (name: string, from = records) => (await from.byName(name))?.label ?? null,
    /** Changes an agent without marking it, as seen from a process that missed the message. */
    changeSilently: (name: string, patch: AgentPatch) => agentStore(db).update(idOf(name), patch),
    change: (name: string, patch: AgentPatch, by = records) =>
      db.atomically(async (tx) => {
        await agentStore(tx).update(idOf(name), patch)
        by.changed(tx, idOf(name))
      }),
    rollBack: (name: string) =>
      db.atomically(async (tx) => {
        records.changed(tx, idOf(name))
        throw new Error('rolled back')
      }),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  }
}

test('all agents are loaded once and then served from memory', async () => {
  await using it = await openRecords()
  const [all] = await Promise.all([it.records.all(), it.records.everyRow(), it.records.byName('one')])
  assert.deepEqual(all.map(({ name }) => name).sort(), ['one', 'two'])
  assert.equal(it.state.loads, 1, 'concurrent first reads share one load')
  const version = await it.records.version()
  assert.equal((await it.records.byId(it.idOf('two')))?.name, 'two')
  assert.equal(await it.records.byName('none'), null)
  assert.deepEqual([it.state.loads, await it.records.version()], [1, version])
})

test('agents that are still being created are cached, but only listed by everyRow', async () => {
  await using it = await openRecords()
  await it.change('two', { state: 'creating' })
  assert.deepEqual(
    (await it.records.all()).map(({ name }) => name),
    ['one'],
  )
  assert.equal((await it.records.everyRow()).length, 2)
  assert.equal(await it.records.byId(it.idOf('two')), null)
})

test('a commit drops only the changed agent', async () => {
  await using it = await openRecords()
  await it.records.all()
  const version = await it.records.version()
  await it.changeSilently('two', { label: 'silent' })
  await it.change('one', { label: 'new' })
  assert.deepEqual([await it.label('one'), await it.label('two')], ['new', null])
  assert.equal(it.state.loads, 2)
  assert.ok((await it.records.version()) > version)
})

test('a transaction that is rolled back drops nothing', async () => {
  await using it = await openRecords()
  await it.records.all()
  await assert.rejects(it.rollBack('one'), /rolled back/)
  await it.records.all()
  assert.equal(it.state.loads, 1)
})

test('markStale and the message of another process drop an agent', async () => {
  await using it = await openRecords()
  const other = it.open()
  await it.records.open()
  await Promise.all([it.records.all(), other.all()])
  await it.change('one', { label: 'by message' }, other)
  assert.equal(await it.label('one'), 'by message')
  await it.changeSilently('two', { label: 'marked' })
  assert.equal(await it.label('two'), null)
  it.records.markStale([it.idOf('two')])
  assert.equal(await it.label('two'), 'marked')
})

test('an interrupted subscription drops all agents', async () => {
  await using it = await openRecords()
  await it.records.open()
  await it.records.all()
  await it.changeSilently('one', { label: 'missed' })
  assert.equal(await it.label('one'), null)
  it.topic.gap()
  assert.equal(await it.label('one'), 'missed')
})

test('a failing first load rejects the read, and the next read loads again', async () => {
  await using it = await openRecords()
  it.state.isFailing = true
  await assert.rejects(it.records.all())
  it.state.isFailing = false
  assert.equal((await it.records.all()).length, 2)
})

test('a failing reload rejects reads instead of returning the old agent, and keeps the mark', async () => {
  await using it = await openRecords()
  await it.records.all()
  await it.change('one', { label: 'new' })
  it.state.isFailing = true
  for (const _ of [1, 2]) await assert.rejects(it.records.byName('one'))
  it.state.isFailing = false
  assert.equal(await it.label('one'), 'new')
})

test('a failing reload after an interrupted subscription is repeated by the next read', async () => {
  await using it = await openRecords()
  await it.records.open()
  await it.records.all()
  await it.changeSilently('one', { label: 'missed' })
  it.topic.gap()
  it.state.isFailing = true
  for (const _ of [1, 2]) await assert.rejects(it.records.byName('one'))
  it.state.isFailing = false
  assert.equal(await it.label('one'), 'missed')
})

test('an expired cache still serves reads, and a failing background reload is retried an interval later', async () => {
  await using it = await openRecords()
  await it.records.all()
  await it.changeSilently('one', { label: 'late' })
  it.state.isFailing = true
  it.state.now += maxAgeSeconds * 1000 + 1
  assert.equal(await it.label('one'), null, 'the read does not fail')
  // Awaits the background reload; the records can still be read afterwards.
  await it.records.close()
  assert.equal(it.state.loads, 2)
  it.state.isFailing = false
  assert.equal(await it.label('one'), null)
  assert.equal(it.state.loads, 2, 'no retry within the interval')
  it.state.now += maxAgeSeconds * 1000 + 1
  await it.records.all()
  await it.records.close()
  assert.equal(await it.label('one'), 'late')
})
