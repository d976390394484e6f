import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { untilReady } from './service.ts'

test('a start that fails or hangs ends the wait, so that the upgrade is rolled back', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-upgrade-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await assert.rejects(
    untilReady({ dataDir, limitSeconds: 600 }, async () => 'it ended'),
    /The platform did not start: it ended/,
  )
  let polls = 0
  const hangs = untilReady({ dataDir, limitSeconds: 0.1 }, async () => {
    polls += 1
    return null
  })
  await assert.rejects(hangs, /not ready after 0\.1 seconds/)
  assert.ok(polls > 1)
})
