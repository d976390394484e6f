import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Installation, stepsOf } from './steps.ts'

const agent = (fields: Partial<Installation['agents'][number]> = {}) => ({
  ...{ name: 'scout', last_execution_at: null, schedules_total: 0, success_count: 0 },
  ...fields,
})
const fresh: Installation = {
  role: 'admin',
  agents: [agent({ name: 'roost-system', last_execution_at: '2026-01-05T03:00:00.000Z' })],
  keys: [
    { provider: 'anthropic', configured: false },
    { provider: 'github', configured: true },
  ],
  allowedAddresses: 0,
}
const idsOf = (
  installation: Partial<Installation>,
  only: (step: ReturnType<typeof stepsOf>[number]) => boolean,
) =>
  stepsOf({ ...fresh, ...installation })
    .filter(only)
    .map(({ id }) => id)
const all = () => true

test('a new installation has every step open; two of them wait for an agent', () => {
  assert.deepEqual(idsOf({}, all), ['key', 'agent', 'chat', 'schedule', 'invite'])
  assert.deepEqual(
    idsOf({}, ({ isDone }) => isDone),
    [],
  )
  assert.deepEqual(
    idsOf({}, ({ isBlocked }) => isBlocked),
    ['chat', 'schedule'],
  )
})

test('each step is done by what exists', () => {
  const done = (installation: Partial<Installation>) => idsOf(installation, ({ isDone }) => isDone)
  assert.deepEqual(done({ keys: [{ provider: 'google', configured: true }] }), ['key'])
  assert.deepEqual(done({ agents: [agent()] }), ['agent'])
  const ran = agent({ last_execution_at: '2026-01-05T03:00:00.000Z' })
  assert.deepEqual(done({ agents: [agent(), ran] }), ['agent', 'chat'])
  assert.deepEqual(done({ agents: [agent({ ...ran, success_count: 1 })] }), ['key', 'agent', 'chat'])
  assert.deepEqual(done({ agents: [agent({ schedules_total: 1 })] }), ['agent', 'schedule'])
  assert.deepEqual(done({ allowedAddresses: 1 }), ['invite'])
  // A demo has scripted keys, and runs without a model.
  const scripted = { keys: [{ provider: 'google', configured: true }] as const, isDemo: true }
  assert.deepEqual(done({ ...scripted, agents: [agent({ success_count: 1 })] }), ['agent'])
})

test('agents of the demo do no step, but a chat and a schedule can be with one of them', () => {
  const ran = { last_execution_at: '2026-01-05T03:00:00.000Z', schedules_total: 1, success_count: 1 }
  const agents = [agent({ name: 'demo-digest', ...ran })]
  assert.deepEqual(
    idsOf({ agents }, ({ isDone }) => isDone),
    [],
  )
  assert.deepEqual(
    idsOf({ agents }, ({ isBlocked }) => isBlocked),
    [],
  )
})

test('only steps that the person may take are listed', () => {
  const agents = [agent()]
  assert.deepEqual(idsOf({ role: 'creator' }, all), ['agent', 'chat', 'schedule'])
  assert.deepEqual(idsOf({ role: 'user', agents }, all), ['chat', 'schedule'])
  assert.deepEqual(idsOf({ role: 'operator', agents: [] }, all), [])
})
