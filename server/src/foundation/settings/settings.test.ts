import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { featureFlags } from '@roost/contracts/foundation/settings'
import { type Fault, isFault } from '../../kit/fault.ts'
import { secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { createThrowawayVault, type Vault } from '../vault/index.ts'
import { type Installed, openSettings, retentionKeys } from './index.ts'
import { createRefresh } from './refresh.ts'
import { settingStore } from './store.ts'

const clock = createTestClock()
const noKeys = { anthropic: null, google: null, openai: null, github: null, voice: null }

function open(db: Db, more: { ephemeral?: Ephemeral; vault?: Vault; installed?: Partial<Installed> } = {}) {
  return openSettings({
    db,
    clock,
    log: silentLog,
    ephemeral: more.ephemeral ?? memoryEphemeral({ clock, log: silentLog }),
    vault: more.vault ?? createThrowawayVault(),
    installed: {
      mail: false,
      voip: false,
      paidChat: false,
      dispatchBreaker: false,
      providerKeys: noKeys,
      ...more.installed,
    },
  })
}

type ProviderKeyTables = { provider_keys: { hint: string } }

const code = (error: unknown) => (isFault(error) ? error.code : error)

/** Returns the fault that a call throws. */
async function refusalOf(call: Promise<unknown>): Promise<Fault> {
  const [{ status, ...settled }] = await Promise.allSettled([call])
  assert.ok(status === 'rejected' && 'reason' in settled && isFault(settled.reason))
  return settled.reason
}

forEachDialect((_dialect, openDb) => {
  test('the first start stores every retention window; the next start changes none', async () => {
    await using db = await openDb()
    const settings = await open(db)
    assert.deepEqual(
      settings.list().map(({ key }) => key),
      retentionKeys.toSorted(),
    )
    await settings.putOps({ audit_retention_days: 400 })
    const again = await open(db)
    assert.equal(again.value('audit_retention_days'), 400)
  })

  test('a value is the one stored last, and the default after its removal', async () => {
    await using db = await openDb()
    const settings = await open(db)
    assert.equal(settings.value('platform_prompt'), '')
    const stored = await settings.put('platform_prompt', 'Be kind.')
    assert.deepEqual(stored, {
      key: 'platform_prompt',
      value: 'Be kind.',
      updated_at: '2026-01-05T08:00:00.000Z',
    })
    assert.equal(settings.value('platform_prompt'), 'Be kind.')
    await settings.put('platform_prompt', 'Be brief.')
    assert.equal((await open(db)).value('platform_prompt'), 'Be brief.')
    await settings.remove('platform_prompt')
    assert.deepEqual(settings.get('platform_prompt'), { key: 'platform_prompt', value: '', updated_at: null })
  })

  test('refuses a warning above its critical value, sent alone or together, and names the field', async () => {
    await using db = await openDb()
    const settings = await open(db)
    const [warning, critical] = ['ops_context_warning_threshold', 'ops_context_critical_threshold'] as const
    for (const [given, errors] of [
      [{ [warning]: 91 }, [{ key: warning, message: `must not be above ${critical} (90)` }]],
      [{ [critical]: '74' }, [{ key: critical, message: `must not be below ${warning} (75)` }]],
      [
        { [warning]: 60, [critical]: 50, ops_idle_timeout_minutes: 5 },
        [{ key: warning, message: `must not be above ${critical} (50)` }],
      ],
    ] as const) {
      const refusal = await refusalOf(settings.putOps(given))
      assert.deepEqual([code(refusal), refusal.fields.errors], ['invalid_ops_value', errors])
    }
    assert.equal(settings.value('ops_idle_timeout_minutes'), 30)
    await settings.putOps({ [warning]: 90 })
    await settings.putOps({ [warning]: 95, [critical]: 95 })

    const issueOf = async (patch: Parameters<typeof settings.monitoring.put>[0]) => {
      const { issues } = (await refusalOf(settings.monitoring.put(patch))).fields
      return (issues as { loc: string[]; msg: string }[])[0] ?? assert.fail('no issue')
    }
    for (const what of ['cpu', 'memory', 'context'] as const) {
      const { loc, msg } = await issueOf({ [`${what}_critical`]: 20 })
      assert.deepEqual(loc, ['body', `${what}_critical`])
      assert.match(msg, new RegExp(`^must not be below ${what}_warning \\(\\d+\\)$`))
    }
    const { loc, msg } = await issueOf({ error_rate_warning: 0.6 })
    assert.deepEqual(
      [loc, msg],
      [['body', 'error_rate_warning'], 'must not be above error_rate_critical (0.5)'],
    )
  })

  test('refuses one of two processes that concurrently cross a pair of thresholds', async () => {
    await using db = await openDb()
    const ephemeral = memoryEphemeral({ clock, log: silentLog })
    const other = await db.openAgain()
    const [here, there] = [await open(db, { ephemeral }), await open(other, { ephemeral })]
    const results = await Promise.allSettled([
      here.putOps({ ops_context_warning_threshold: 85 }),
      there.putOps({ ops_context_critical_threshold: 80 }),
    ])
    assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    await other.close()
  })

  test('a stored crossed pair blocks no other change and can be corrected', async () => {
    await using db = await openDb()
    const settings = await open(db)
    const at = '2026-01-05T08:00:00.000Z'
    await settingStore(db).put([{ key: 'ops_context_warning_threshold', value: '99', updated_at: at }])
    await settings.putOps({ ops_idle_timeout_minutes: 5 })
    await settings.putOps({ ops_context_warning_threshold: 50 })
    assert.equal(settings.value('ops_context_warning_threshold'), 50)
  })

  test('another process reads a change after its message', async () => {
    await using db = await openDb()
    const ephemeral = memoryEphemeral({ clock, log: silentLog })
    const vault = createThrowawayVault()
    const [here, there] = [await open(db, { ephemeral, vault }), await open(db, { ephemeral, vault })]
    await here.putCeiling(4)
    await here.providerKeys.put('openai', 'sk-test-abcd1234')
    for (const loop of there.loops) await loop.run(new AbortController().signal)
    assert.equal(there.value('max_parallel_tasks_ceiling'), 4)
    assert.equal(there.providerKey('openai')?.reveal(), 'sk-test-abcd1234')
  })

  test('hints show nothing of a short key, stored or from the environment', async () => {
    await using db = await openDb()
    const installed = { providerKeys: { ...noKeys, google: secret('abcd'), voice: secret('x'.repeat(15)) } }
    const { providerKeys } = await open(db, { installed })
    assert.equal((await providerKeys.put('openai', 'sk-short')).hint, null)
    const hints = Object.fromEntries(providerKeys.list().map(({ provider, hint }) => [provider, hint]))
    assert.deepEqual(hints, { anthropic: null, google: null, openai: null, github: null, voice: null })
    const rows = await db.withTables<ProviderKeyTables>().selectFrom('provider_keys').select('hint').execute()
    assert.deepEqual(
      rows.map(({ hint }) => hint),
      [''],
    )
  })

  test('a stored key overrides the environment, is sealed, and opens in no other row', async () => {
    await using db = await openDb()
    const installed = { providerKeys: { ...noKeys, anthropic: secret('sk-ant-from-env-1111') } }
    const settings = await open(db, { installed })
    assert.equal(settings.providerKey('anthropic')?.reveal(), 'sk-ant-from-env-1111')
    const row = await settings.providerKeys.put('anthropic', 'sk-ant-stored-2222')
    assert.deepEqual(row, {
      provider: 'anthropic',
      configured: true,
      source: 'stored',
      hint: '2222',
      last_tested_at: null,
      last_test_ok: null,
    })
    assert.equal(settings.providerKey('anthropic')?.reveal(), 'sk-ant-stored-2222')
    const rows = await db
      .withTables<{ provider_keys: object }>()
      .selectFrom('provider_keys')
      .selectAll()
      .execute()
    assert.doesNotMatch(JSON.stringify(rows), /stored-2222/)

    const otherKey = await open(db, { vault: createThrowawayVault(), installed })
    assert.equal(otherKey.providerKey('anthropic')?.reveal(), 'sk-ant-from-env-1111')

    assert.equal((await settings.providerKeys.remove('anthropic')).source, 'env')
    assert.equal(settings.providerKey('anthropic')?.reveal(), 'sk-ant-from-env-1111')
    assert.equal(settings.providerKey('voice'), null)
  })

  test('ops values are stored all or none', async () => {
    await using db = await openDb()
    const settings = await open(db)
    const mixed = { ops_idle_timeout_minutes: 45, audit_retention_days: 30, ssh_access_enabled: 'maybe' }
    await assert.rejects(settings.putOps(mixed), (error) => {
      assert.ok(isFault(error, 'invalid_ops_value'))
      const errors = error.fields.errors as { key: string }[]
      assert.deepEqual(
        errors.map(({ key }) => key),
        ['audit_retention_days', 'ssh_access_enabled'],
      )
      return true
    })
    assert.equal(settings.value('ops_idle_timeout_minutes'), 30)
    const done = await settings.putOps({
      ops_idle_timeout_minutes: '45',
      ssh_access_enabled: false,
      colour: 'red',
    })
    assert.deepEqual(done, {
      updated: ['ops_idle_timeout_minutes', 'ssh_access_enabled'],
      ignored: ['colour'],
    })
    assert.equal(settings.value('ops_idle_timeout_minutes'), 45)
    assert.deepEqual(settings.opsConfig().ssh_access_enabled, {
      value: false,
      default: true,
      description: 'SSH access to agents’ containers.',
      is_default: false,
    })
  })

  test('a reset leaves the retention windows as they are', async () => {
    await using db = await openDb()
    const settings = await open(db)
    await settings.putOps({ ops_idle_timeout_minutes: 45, event_retention_days: 5 })
    const { reset, skipped } = await settings.resetOps()
    assert.ok(reset.includes('ops_idle_timeout_minutes'))
    assert.deepEqual(skipped.toSorted(), retentionKeys.toSorted())
    assert.equal(settings.value('ops_idle_timeout_minutes'), 30)
    assert.equal(settings.value('event_retention_days'), 5)
  })

  test('a change of the default resources keeps the fields that it omits', async () => {
    await using db = await openDb()
    const settings = await open(db)
    assert.deepEqual(settings.defaultResources(), { cpu: '2', memory: '4g' })
    await settings.putDefaultResources({ memory: '8g' })
    await settings.putDefaultResources({ cpu: '4' })
    assert.deepEqual(settings.defaultResources(), { cpu: '4', memory: '8g' })
  })
})

test('unknown keys store text, and are unknown again after their removal', async () => {
  await using db = await openTestDatabase()
  const settings = await open(db)
  assert.throws(
    () => settings.get('theme'),
    (error) => code(error) === 'setting_not_found',
  )
  await settings.put('theme', 'dark')
  assert.equal(settings.get('theme').value, 'dark')
  await settings.remove('theme')
  await assert.rejects(settings.remove('theme'), (error) => code(error) === 'setting_not_found')
})

describe('feature flags', () => {
  test('a bare installation has the flags without requirements', async () => {
    await using db = await openTestDatabase()
    const settings = await open(db)
    const on = Object.entries(settings.featureFlags()).filter(([, value]) => value)
    assert.deepEqual(
      on.map(([flag]) => flag),
      ['workspace', 'chat_sessions', 'two_factor', 'public_links'],
    )
    assert.deepEqual(Object.keys(settings.featureFlags()), [...featureFlags])
  })

  test('email login needs mail and its setting, voice its key, calls their switch and the key', async () => {
    await using db = await openTestDatabase()
    const settings = await open(db, { installed: { mail: true, voip: true } })
    assert.equal(settings.featureFlags().email_login, true)
    await settings.put('email_auth_enabled', 'false')
    assert.equal(settings.featureFlags().email_login, false)
    assert.equal(settings.featureFlags().voip, false)
    await settings.providerKeys.put('voice', 'voice-key-1234')
    const { voice, voip } = settings.featureFlags()
    assert.deepEqual([voice, voip], [true, true])
    assert.equal((await open(db)).featureFlags().email_login, false)
  })

  test('the breaker setting overrides its default from the environment', async () => {
    await using db = await openTestDatabase()
    const settings = await open(db, { installed: { dispatchBreaker: true } })
    assert.equal(settings.value('dispatch_breaker_enabled'), true)
    await settings.put('dispatch_breaker_enabled', 'false')
    assert.equal(settings.featureFlags().dispatch_breaker, false)
  })
})

test('a refresh requested during another starts after it and is shared', async () => {
  const steps: string[] = []
  const first = Promise.withResolvers<void>()
  let loads = 0
  const refresh = createRefresh(async () => {
    loads += 1
    steps.push(`start ${loads}`)
    if (loads === 1) await first.promise
    steps.push('end')
  })
  const running = refresh()
  await Promise.resolve()
  const [second, third] = [refresh(), refresh()]
  assert.equal(second, third)
  first.resolve()
  await Promise.all([running, second])
  assert.deepEqual(steps, ['start 1', 'end', 'start 2', 'end'])
})
