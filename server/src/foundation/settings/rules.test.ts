import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitions, opsKeys, retentionKeys, settingKeys, thresholdPairs } from './definitions.ts'
import { checkPlain, checkValue, readValue, refuseKey } from './rules.ts'

const threshold = definitions.ops_context_warning_threshold
const cost = definitions.ops_cost_limit_daily_usd
const flag = definitions.ssh_access_enabled

for (const [given, expected] of [
  [80, 80],
  ['80', 80],
  [' 80 ', 80],
  [1, 1],
  [100, 100],
] as const) {
  test(`an integer is accepted as ${JSON.stringify(given)}`, () => {
    assert.deepEqual(checkValue(threshold, given), { value: expected })
  })
}

for (const given of [0, 101, 1.5, '1.5', '', 'many', '1e1', true, Number.NaN]) {
  test(`an integer from 1 to 100 is refused as ${JSON.stringify(given)}`, () => {
    assert.match((checkValue(threshold, given) as { message: string }).message, /^must be an integer/)
  })
}

test('an amount can have a fraction and can be 0', () => {
  assert.deepEqual(checkValue(cost, '12.5'), { value: 12.5 })
  assert.deepEqual(checkValue(cost, 0), { value: 0 })
  assert.deepEqual(checkValue(cost, -1), { message: 'must be a number from 0 to 1000000' })
})

test('a boolean is true or false, as text or a value', () => {
  for (const given of [true, 'true']) assert.deepEqual(checkValue(flag, given), { value: true })
  for (const given of [false, 'false']) assert.deepEqual(checkValue(flag, given), { value: false })
  for (const given of ['yes', '', 1, 0]) assert.ok('message' in checkValue(flag, given))
})

test('an invalid stored text counts as not stored', () => {
  assert.equal(readValue(threshold, 'eighty'), undefined)
  assert.equal(readValue(threshold, '80'), 80)
})

for (const key of [
  'anthropic_api_key',
  'GEMINI_API_KEY',
  'My_Api_Key',
  'access_token',
  'jwt_secret',
  'github_pat',
  'smtp_password',
  'aws_credentials',
  'api_key',
  'token',
]) {
  test(`${key} names a secret`, () => {
    assert.deepEqual(refuseKey(key), {
      code: 'secret_setting_key',
      route: '/api/settings/api-keys/{provider}',
    })
  })
}

for (const key of ['encryption_key', 'ROOST_ENCRYPTION_KEY', 'database_url', 'redis_url', 'roost_mail_url']) {
  test(`${key} is a secret of the platform, set only in its environment`, () => {
    const refusal = refuseKey(key)
    assert.deepEqual([refusal?.code, refusal?.route], ['secret_setting_key', null])
    assert.match(refusal?.detail ?? '', /Set ROOST_[A-Z_]+ in its environment/)
  })
}

for (const [key, route] of [
  ['ops_idle_timeout_minutes', '/api/settings/ops/config'],
  ['ssh_access_enabled', '/api/settings/ops/config'],
  ['audit_retention_days', '/api/settings/ops/config'],
  ['AUDIT_RETENTION_DAYS', '/api/settings/ops/config'],
  ['something_retention_days', '/api/settings/ops/config'],
  ['max_parallel_tasks_ceiling', '/api/settings/max-parallel-tasks-ceiling'],
  ['max-parallel-tasks-ceiling', '/api/settings/max-parallel-tasks-ceiling'],
  ['agent_default_cpu', '/api/settings/agent-defaults/resources'],
  ['agent_opened_networks', '/api/settings/agent-defaults/network'],
  ['usage_sharing_enabled', '/api/settings/telemetry-sharing'],
  ['telemetry_sharing_enabled', '/api/settings/telemetry-sharing'],
  ['skills_library_auto_sync_enabled', '/api/settings/skills-library'],
  ['skills-library', '/api/settings/skills-library'],
  ['slack_bot_token', '/api/settings/slack'],
  ['mcp_url', '/api/settings/mcp-url'],
  ['feature-flags', '/api/settings/feature-flags'],
] as const) {
  test(`${key} is changed at ${route}`, () => {
    assert.deepEqual(refuseKey(key), { code: 'dedicated_setting_key', route })
  })
}

for (const key of [
  'platform_prompt',
  'email_auth_enabled',
  'token_display_name',
  'jwt_lifetime',
  'sort_key',
  'password_hint',
  'credentials_note',
  'secret_santa',
  'public-key',
  'ops_motto',
  'max_agents_shown',
  'max_tokens',
  'theme',
  'keyboard',
  'passage',
  'patience',
]) {
  test(`${key} is a plain setting`, () => assert.equal(refuseKey(key), null))
}

test('plain settings that Roost reads are validated', () => {
  assert.equal(checkPlain('email_auth_enabled', 'maybe')?.code, 'validation_error')
  assert.equal(checkPlain('platform_default_model', 'llama-3')?.code, 'invalid_model')
  assert.equal(checkPlain('platform_default_model', 'claude-sonnet-4-5'), null)
  assert.equal(checkPlain('platform_default_model', ''), null)
  assert.equal(checkPlain('public_chat_url', 'not an address')?.code, 'validation_error')
  assert.equal(checkPlain('public_chat_url', 'https://chat.example'), null)
  assert.equal(checkPlain('theme', 'anything at all'), null)
})

test('every warning and every critical threshold belongs to a pair whose defaults are in order', () => {
  const named = settingKeys.filter((key) => /warning|critical/.test(key))
  assert.deepEqual(thresholdPairs.flat().toSorted(), named.toSorted())
  for (const [warning, critical] of thresholdPairs)
    assert.ok(definitions[warning].default <= definitions[critical].default, warning)
})

test('every default is a value that its definition accepts', () => {
  for (const key of settingKeys) {
    assert.deepEqual(checkValue(definitions[key], definitions[key].default), {
      value: definitions[key].default,
    })
  }
})

test('the audit log is kept for a year at least, backups for a day', () => {
  assert.equal(definitions.audit_retention_days.min, 365)
  assert.equal(definitions.backup_retention_days.min, 1)
  assert.equal(retentionKeys.length, 13)
  assert.equal(opsKeys.length, 21)
})
