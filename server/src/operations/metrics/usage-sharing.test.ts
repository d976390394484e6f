import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Agent } from '../../agents/records/index.ts'
import { openSettings } from '../../foundation/settings/index.ts'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { usageSharingRoutes } from './routes.ts'
import { createUsageSharing } from './usage-sharing.ts'

forEachDialect((_name, openDatabase) => {
  test('sharing is off until a person decides; the preview contains counts; the question appears once', async () => {
    await using db = await openDatabase()
    const clock = createTestClock()
    const settings = await openSettings({
      ...{ db, clock, log: silentLog, vault: createThrowawayVault() },
      ephemeral: memoryEphemeral({ clock, log: silentLog }),
      installed: {
        ...{ mail: false, voip: false, paidChat: false, dispatchBreaker: false },
        providerKeys: { anthropic: null, google: null, openai: null, github: null, voice: null },
      },
    })
    const sharing = createUsageSharing({
      settings,
      agentRecords: {
        all: async () =>
          [
            ['a secret name', 'codex', 'running'],
            ['b', 'codex', 'stopped'],
            ['c', 'claude-code', 'running'],
            // Only these fields are read.
          ].map(([name, runtime, status]) => ({ name, runtime, status }) as Agent),
      },
      build: { version: '1.2.3', edition: 'oss', install_source: 'git' },
    })
    await using app = routesApp(usageSharingRoutes(sharing), {
      admin: { caller: person({ role: 'admin' }), relation: 'owner' },
    })
    const ask = async (method: 'GET' | 'PUT' | 'POST', path = '', payload?: object) => {
      const url = `/api/settings/telemetry-sharing${path}`
      const reply = await app.inject({ method, url, headers: as('admin'), ...(payload ? { payload } : {}) })
      assert.equal(reply.statusCode, 200, reply.body)
      return reply.json()
    }
    const preview = {
      ...{ version: '1.2.3', edition: 'oss', install_source: 'git' },
      agents: { total: 3, running: 2, by_runtime: { codex: 2, 'claude-code': 1 } },
    }
    assert.deepEqual(await ask('GET'), { enabled: false, consent_asked: false, dismissed: false, preview })
    assert.deepEqual(await ask('POST', '/dismiss'), { dismissed: true })
    assert.deepEqual(await ask('GET'), { enabled: false, consent_asked: true, dismissed: true, preview })
    const on = { enabled: true, consent_asked: true, dismissed: false, preview }
    assert.deepEqual(await ask('PUT', '', { enabled: true }), on)
    assert.equal(settings.featureFlags().usage_sharing, true)
    assert.equal((await ask('PUT', '', { enabled: false })).enabled, false)
    assert.equal(settings.featureFlags().usage_sharing, false)
    await settings.close()
  })
})
