import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Manifest } from '@roost/contracts/operations/agent-transfer'
import type { SignedIn } from '../../identity/access/index.ts'
import { isFault } from '../../kit/fault.ts'
import { parseManifest, planOf } from './rules.ts'

const manifest: Manifest = {
  format: 'roost-agent',
  version: 1,
  roost_version: '1.0.0',
  created_at: '2030-01-01T00:00:00.000Z',
  with_credentials: false,
  agent: {
    name: 'scout',
    type: 'business-assistant',
    label: null,
    tags: ['moving', 'dept-sales'],
    runtime: 'claude-code',
    model: null,
    cpu: '2',
    memory: '4g',
    disk_quota_bytes: 5_000_000_000,
    custom_instructions: null,
    autonomy_enabled: true,
    read_only: { enabled: false, config: null },
    execution_timeout_seconds: 3600,
    max_parallel_tasks: 3,
    full_capabilities: true,
    mcp_exposed: false,
    operator_resume: false,
    circuit_breaker_enabled: false,
    expose_folder: false,
    consume_folders: false,
    strangers: 'write',
    egress: { mode: 'learn', allowed: [{ host: 'api.example.com', port: null }], credentials: ['API_KEY'] },
  },
  schedules: [
    {
      name: 'Daily',
      cron_expression: '5 4 * * *',
      message: 'Report.',
      enabled: true,
      timezone: 'UTC',
      misfire_policy: 'run_once',
      max_retries: 0,
      retry_delay_seconds: 60,
      validation_enabled: false,
      validation_timeout_seconds: 120,
      undo_failed: false,
      has_webhook: true,
    },
  ],
  subscriptions: [
    { event_type: 'a.b', target_message: 'Read it.', source: { kind: 'agent', name: 'other' } },
    { event_type: 'a.c', target_message: 'Read it.', source: { kind: 'any' } },
  ],
  skills: [],
}
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const caller = (role: 'admin' | 'creator', kind: 'session' | 'key' = 'session') =>
  ({ kind, user: { id: 'u', username: 'ada', email: null, role } }) as SignedIn

test('a valid manifest is read', () => {
  assert.deepEqual(parseManifest(bytesOf(manifest)), manifest)
})

test('422 names the field and the rule', () => {
  const agent = (over: object) => ({ ...manifest, agent: { ...manifest.agent, ...over } })
  for (const [value, pattern] of [
    [agent({ memory: '64g' }), /^agent\.memory: must be "1g" to "32g"/],
    [agent({ cpu: 2 }), /^agent\.cpu: must be one of/],
    [agent({ owner: 'eve' }), /^agent: Unrecognized key: "owner"/],
    [agent({ execution_timeout_seconds: 10 ** 6 }), /^agent\.execution_timeout_seconds: /],
    [agent({ name: '../x' }), /^agent\.name: /],
    [agent({ egress: { ...manifest.agent.egress, mode: 'open' } }), /^agent\.egress\.mode: /],
    [{ ...manifest, keys: [] }, /^manifest\.json: Unrecognized key: "keys"/],
    [{ ...manifest, schedules: [{ ...manifest.schedules[0], message: '' }] }, /^schedules\.0\.message: /],
    [{ ...manifest, version: 2 }, /version 2; this platform reads version 1/],
    [{ ...manifest, format: 'other' }, /^format: /],
    [[], /^manifest\.json: /],
    [null, /^manifest\.json: /],
  ] as const)
    assert.throws(
      () => parseManifest(bytesOf(value)),
      (error) => isFault(error, 'invalid_archive') && pattern.test((error as Error).message),
      String(pattern),
    )
  assert.throws(
    () => parseManifest(Buffer.from([0x7b, 0xff])),
    (error) => isFault(error, 'invalid_archive'),
  )
})

const request = { name: undefined, trust: false, enableSchedules: false }

test('a person without rights and trust gets neither quota, capabilities nor writing strangers', () => {
  const plan = planOf(manifest, caller('creator'), request)
  const { columns, fullCapabilities, schedules, warnings } = plan
  assert.deepEqual([columns.disk_quota_bytes, fullCapabilities, columns.strangers], [null, false, 'read'])
  assert.deepEqual(
    schedules.map(({ enabled }) => enabled),
    [false],
  )
  for (const pattern of [/disk quota/, /Full capabilities/, /Strangers/, /API_KEY/, /webhook/, /"other"/])
    assert.equal(warnings.filter((warning) => pattern.test(warning)).length, 1, String(pattern))
})

test('an admin who trusts the archive gets all of it', () => {
  const plan = planOf(manifest, caller('admin'), { name: 'new', trust: true, enableSchedules: true })
  assert.deepEqual(
    [plan.name, plan.columns.disk_quota_bytes, plan.fullCapabilities, plan.columns.strangers],
    ['new', 5_000_000_000, true, 'write'],
  )
  assert.deepEqual(
    plan.schedules.map(({ enabled }) => enabled),
    [true],
  )
  assert.deepEqual(plan.tags, manifest.agent.tags)
})

test('a key does not add organizational tags, which is reported', () => {
  const { tags, warnings } = planOf(manifest, caller('creator', 'key'), request)
  assert.deepEqual(tags, ['moving'])
  assert.ok(warnings.some((warning) => warning.includes('"dept-sales"')))
})
