import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'
import type { Queue, QueueUpdate } from '@roost/contracts/link/queue'
import { createFakeClock } from '../kit/fake-clock.ts'
import { makeTestHome } from '../test/home.ts'
import { createPaths } from '../workspace/paths.ts'
import { createQueueFile, queueFile } from './file.ts'
import { watchQueueFile } from './watch.ts'

const answered: QueueUpdate = {
  id: 'r1',
  status: 'responded',
  response: 'yes',
  response_text: null,
  responded_by: 'ann@example.org',
  responded_at: '2026-01-01T00:00:00.000Z',
}
const entry = { id: 'r1', status: 'pending', title: 'Deploy?', mine: { kept: true } }

async function start() {
  const place = makeTestHome()
  const path = join(place.home, queueFile)
  mkdirSync(dirname(path), { recursive: true })
  const clock = createFakeClock()
  const reports: Omit<Queue, 't'>[] = []
  const state = { isUp: true, updates: [] as QueueUpdate[], meddle: () => {} }
  const watch = watchQueueFile({
    file: createQueueFile(await createPaths(place.home)),
    clock,
    log: { info: () => {}, warn: () => {} },
    link: {
      isUp: () => state.isUp,
      // Only messages of this type are sent in this test.
      call: (async (_t: string, message: Omit<Queue, 't'>) => {
        reports.push(message)
        state.meddle()
        return { updates: state.updates }
      }) as never,
    },
  })
  return {
    path,
    reports,
    state,
    watch,
    write: (value: unknown) => writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value)),
    read: () => JSON.parse(readFileSync(path, 'utf8')),
    /** Advances to the next check; resolves when it has finished. */
    async look() {
      await clock.advance(2000)
      while (clock.pending().length === 0) await soon()
    },
    [Symbol.dispose]() {
      watch.close()
      place[Symbol.dispose]()
    },
  }
}

test('a changed file is reported once; answers are written back and other content is kept', async () => {
  using world = await start()
  world.write({ $schema: 'operator-queue-v1', note: 'mine', requests: [entry, { id: 'r2' }] })
  world.state.updates = [answered]
  await world.look()
  assert.deepEqual(world.reports[0]?.requests, [entry, { id: 'r2' }])
  const after = world.read()
  assert.deepEqual([after.$schema, after.note], ['operator-queue-v1', 'mine'])
  assert.deepEqual(after.requests, [{ ...entry, ...answered }, { id: 'r2' }])
  await world.look()
  await world.look()
  assert.equal(world.reports.length, 1)
})

test('a concurrent change by the agent is not overwritten and is reported next', async () => {
  using world = await start()
  world.write({ requests: [entry] })
  world.state.updates = [answered]
  world.state.meddle = () => {
    world.write({ requests: [entry, { id: 'newer' }] })
    world.state.meddle = () => {}
  }
  await world.look()
  assert.deepEqual(world.read().requests, [entry, { id: 'newer' }])
  await world.look()
  assert.equal(world.reports.at(-1)?.requests?.length, 2)
  assert.equal(world.read().requests[0].status, 'responded')
})

test('a file that stays unreadable is reported and left alone; a half-written one is not reported', async () => {
  using world = await start()
  world.write('{"requests": [')
  await world.look()
  assert.equal(world.reports.length, 0)
  await world.look()
  assert.match(world.reports[0]?.fault ?? '', /not a JSON object/)
  assert.equal(readFileSync(world.path, 'utf8'), '{"requests": [')
  world.write({ requests: {} })
  await world.look()
  await world.look()
  assert.match(world.reports.at(-1)?.fault ?? '', /"requests"/)
})

test('a link that leads out of the workspace is not followed', async () => {
  using world = await start()
  symlinkSync('/etc/passwd', world.path)
  await world.look()
  assert.ok(world.reports.every(({ requests, fault }) => requests === null && fault === null))
})

test('answers are not written through a link that replaces the folder meanwhile', async () => {
  using place = makeTestHome()
  const { home, root } = place
  const folder = join(home, dirname(queueFile))
  const outside = join(root, 'outside')
  for (const each of [folder, outside]) {
    mkdirSync(each)
    writeFileSync(join(each, basename(queueFile)), '{"requests": []}')
  }
  const paths = await createPaths(home)
  const file = createQueueFile({
    ...paths,
    async target(path) {
      const real = await paths.target(path)
      renameSync(folder, `${folder}-away`)
      symlinkSync(outside, folder)
      return real
    },
  })
  const document = await file.read()
  assert.ok(document.kind === 'read')
  await assert.rejects(file.write(document, []))
  assert.deepEqual(readdirSync(outside), [basename(queueFile)])
  assert.equal(readFileSync(join(outside, basename(queueFile)), 'utf8'), '{"requests": []}')
})

test('nothing is reported while the link is down; a platform request reports even an unchanged file', async () => {
  using world = await start()
  world.state.isUp = false
  world.write({ requests: [entry] })
  await world.look()
  assert.equal(world.reports.length, 0)
  world.state.isUp = true
  await world.look()
  world.state.updates = [answered]
  const { mode } = await stat(world.path)
  world.watch.report()
  while (world.read().requests[0].response !== 'yes') await soon()
  assert.equal(world.read().requests[0].response, 'yes')
  assert.equal((await stat(world.path)).mode, mode)
})
