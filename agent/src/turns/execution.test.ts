import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { settingsOf } from '../calls.ts'
import { createFakeClock } from '../kit/fake-clock.ts'
import type { TurnPlace } from '../principals/places.ts'
import { fake } from '../runtimes/fake.ts'
import { openSpool } from '../spool/spool.ts'
import { identitiesOf, makeTestHome, ownersFilesOf } from '../test/home.ts'
import { aRun } from '../test/platform.ts'
import { type ExecutionDeps, startExecution } from './execution.ts'
import { createScratches } from './scratch.ts'

test('a turn whose preparation hangs ends at its time limit, and leaves no folder when that continues', async () => {
  using t = makeTestHome()
  const clock = createFakeClock()
  const run = aRun({ timeout_seconds: 60 })
  const spool = openSpool(join(t.root, 'spool'), clock).open({
    executionId: run.execution_id,
    claimToken: run.claim_token,
    kind: run.kind,
  })
  const identities = identitiesOf(t.home)
  const scratches = createScratches(t.scratch, identities)
  const place: TurnPlace = {
    user: identities.developer,
    ...{ access: 'owner', credentials: true, isPrivate: false },
    ...{ home: t.home, cwd: t.home, temporary: null, state: join(t.root, 'state') },
  }
  const hanging = { begun: Promise.withResolvers<string>(), end: Promise.withResolvers<string[]>() }
  const removed = Promise.withResolvers<void>()
  const deps: Partial<ExecutionDeps> = {
    clock,
    identities,
    runtime: fake,
    home: t.home,
    parts: join(t.root, 'parts'),
    settings: () => settingsOf({}),
    places: { of: async () => place, earlierSession: async () => '' },
    sharing: { before: async () => {}, after: async () => {}, noteOwner() {} },
    permissions: {
      openForReader: async () => {},
      noteDeveloperTurn() {},
      openForDeveloper: async () => {},
      beforeDeveloper: async () => {},
    },
    scratches: {
      ...scratches,
      async make(user) {
        const scratch = await scratches.make(user)
        hanging.begun.resolve(scratch.path)
        return { ...scratch, remove: () => scratch.remove().then(removed.resolve) }
      },
    },
    ownersFiles: { ...ownersFilesOf(t.home), foreign: () => hanging.end.promise },
    servers: async () => ({}),
    mcpUrl: () => null,
    environment: async () => ({}),
    delivery: { kick() {}, started() {}, settled: async () => {} },
    log: { info() {}, warn() {} },
  }
  const execution = startExecution(run, spool, null, deps as ExecutionDeps)
  const path = await hanging.begun.promise
  await clock.advance(59_999)
  assert.equal(spool.result(), null)
  await clock.advance(1)
  await execution.done
  assert.partialDeepStrictEqual(spool.result(), {
    status: 'failed',
    error: 'The turn did not start within its time limit of 60 seconds.',
    error_code: 'timeout',
    terminal_reason: 'max_duration',
  })
  assert.deepEqual(clock.pending(), [])
  hanging.end.resolve(['.env'])
  await removed.promise
  assert.deepEqual(readdirSync(dirname(path)), ['closed'])
  assert.equal(spool.lastLine(), 0)
})
