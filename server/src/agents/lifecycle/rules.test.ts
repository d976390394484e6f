import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFolderMark } from './folder-mount.ts'
import {
  busySince,
  type ContainerSettings,
  desiredFor,
  exitsWithin,
  isRestartLoop,
  lowestFreePort,
  newsGuard,
  type ObservedContainer,
  plan,
  recreateReasonsOf,
  type Step,
} from './rules.ts'

const running: ObservedContainer = { id: 'c', status: 'running' }
const stopped: ObservedContainer = { id: 'c', status: 'stopped' }
const created: ObservedContainer = { id: 'c', status: 'created' }

const cases: [string, Parameters<typeof plan>[0], Step[]][] = [
  ['no container', { desired: 'running', held: false, observed: null, reasons: [] }, ['create', 'start']],
  ['never started', { desired: 'running', held: false, observed: created, reasons: [] }, ['start']],
  ['stopped', { desired: 'running', held: false, observed: stopped, reasons: [] }, ['start']],
  ['running', { desired: 'running', held: false, observed: running, reasons: [] }, []],
  [
    'stopped with outdated settings',
    { desired: 'running', held: false, observed: stopped, reasons: ['resources'] },
    ['remove', 'create', 'start'],
  ],
  [
    'running with outdated settings',
    { desired: 'running', held: false, observed: running, reasons: ['runtime'] },
    [],
  ],
  ['to be stopped', { desired: 'stopped', held: false, observed: running, reasons: [] }, ['stop']],
  ['already stopped', { desired: 'stopped', held: false, observed: stopped, reasons: ['runtime'] }, []],
  ['stopped, never started', { desired: 'stopped', held: false, observed: created, reasons: [] }, []],
  ['to be stopped, no container', { desired: 'stopped', held: false, observed: null, reasons: [] }, []],
  [
    'held, restarted by the engine',
    { desired: 'running', held: true, observed: running, reasons: [] },
    ['stop'],
  ],
  ['held', { desired: 'running', held: true, observed: stopped, reasons: [] }, []],
  [
    'held, between two starts',
    { desired: 'running', held: true, observed: stopped, mayRestart: true, reasons: [] },
    ['stop'],
  ],
  [
    'to be stopped between two starts',
    { desired: 'stopped', held: false, observed: stopped, mayRestart: true, reasons: [] },
    ['stop'],
  ],
  [
    'to be stopped, never started, with a restart policy',
    { desired: 'stopped', held: false, observed: created, mayRestart: true, reasons: [] },
    [],
  ],
  ['held, no container', { desired: 'running', held: true, observed: null, reasons: [] }, []],
]
for (const [title, input, steps] of cases) {
  test(`plan: ${title} → ${steps.join(', ') || 'nothing'}`, () => assert.deepEqual(plan(input), steps))
}

const made: ContainerSettings = {
  cpu: '2',
  memory: '4g',
  full_capabilities: false,
  runtime: 'claude-code',
  agent_key_id: 'k1',
  image_version: 'v1',
  folders: ['a', 'b'],
}
const reasons: [Partial<ContainerSettings>, string[]][] = [
  [{}, []],
  [{ cpu: '4' }, ['resources']],
  [{ memory: '8g' }, ['resources']],
  [{ full_capabilities: true }, ['capabilities']],
  [{ runtime: 'gemini-cli', image_version: 'v2' }, ['runtime']],
  [{ agent_key_id: 'k2' }, ['agent_key']],
  [{ image_version: 'v2' }, ['image_version']],
  [{ folders: ['b', 'a'] }, []],
  [{ folders: ['a'] }, ['shared_folders']],
  [{ cpu: '4', agent_key_id: 'k2', image_version: 'v2' }, ['resources', 'agent_key', 'image_version']],
]
for (const [change, expected] of reasons) {
  test(`recreate because of ${JSON.stringify(change)}: ${expected.join(', ') || 'no'}`, () => {
    assert.deepEqual(recreateReasonsOf(made, { ...made, ...change }), expected)
  })
}
test('another network requires a new container; a missing network means open', () => {
  assert.deepEqual(recreateReasonsOf(made, { ...made, network: 'open' }), [])
  assert.deepEqual(recreateReasonsOf(made, { ...made, network: 'closed' }), ['egress'])
  assert.deepEqual(recreateReasonsOf({ ...made, network: 'closed' }, { ...made, network: 'open' }), [
    'egress',
  ])
})
test('another OCI runtime requires a new container; a missing one means runc, an unknown one nothing', () => {
  const runsc = { ...made, container_runtime: 'runsc' }
  assert.deepEqual(recreateReasonsOf(made, runsc), ['isolation'])
  assert.deepEqual(recreateReasonsOf(runsc, { ...made, container_runtime: 'runc' }), ['isolation'])
  assert.deepEqual(recreateReasonsOf(made, { ...made, container_runtime: 'runc' }), [])
  assert.deepEqual(recreateReasonsOf(runsc, { ...made, container_runtime: null }), [])
})
test('without a container there is nothing to recreate', () => {
  assert.deepEqual(recreateReasonsOf(null, made), [])
})
test('the desired settings come from the row, the image and the current folders', () => {
  const desired = (...volumes: string[]) =>
    desiredFor(
      { ...made, egress_mode: 'off', container_runtime: null },
      'v9',
      volumes.map((volume) => ({ sourceId: 's', name: 'ada', volume })),
      { installation: null, engine: { listed: ['runc'], default: 'runc' } },
    )
  assert.deepEqual(desired(), {
    ...made,
    image_version: 'v9',
    folders: [],
    network: 'open',
    container_runtime: 'runc',
  })
  const marks = ['one', 'two'].map((volume) => desired(volume).folders)
  assert.notDeepEqual(marks[0], marks[1], 'another agent of the same name has another folder')
  assert.deepEqual(readFolderMark(marks[0]?.[0] ?? ''), { name: 'ada', volume: 'one' })
})

test('five exits within ten minutes are a restart loop, four are not', () => {
  const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString()
  const four = [0, 1, 2].reduce((recent, minute) => exitsWithin(recent, at(minute)), exitsWithin([], at(0)))
  assert.equal(isRestartLoop(four), false)
  assert.equal(isRestartLoop(exitsWithin(four, at(9))), true)
  assert.equal(isRestartLoop(exitsWithin(four, at(11))), false)
})

test('an agent is busy since its first run without a break, at most since the start of its container', () => {
  const busy = (...agents: [string, number, number][]) =>
    agents.map(([id, runningSince, startedAt]) => ({ id, runningSince, startedAt }))
  const first = busySince(new Map(), busy(['a', 100, 0], ['b', 100, 150]))
  assert.deepEqual(
    [...first],
    [
      ['a', 100],
      ['b', 150],
    ],
  )
  const second = busySince(first, busy(['a', 180, 0]))
  assert.deepEqual([...second], [['a', 100]], 'a later run follows; the idle agent is forgotten')
  assert.deepEqual(
    [...busySince(second, busy(['a', 180, 190], ['b', 200, 150]))],
    [
      ['a', 190],
      ['b', 200],
    ],
  )
})

test("older reports are ignored, unless the row's time is in the future", () => {
  const at = '2030-01-01T00:00:10.000Z'
  const now = new Date('2030-01-01T00:00:11.000Z')
  const guard = (observed_at: string, strictly: boolean) => newsGuard({ observed_at }, { at, strictly }, now)
  assert.deepEqual(guard('2030-01-01T00:00:05.000Z', false), { observedUntil: at })
  assert.deepEqual(guard('2030-01-01T00:00:12.000Z', true), { observedBefore: at })
  assert.deepEqual(guard('2030-01-01T00:01:11.001Z', true), {})
})

test('returns the lowest free port; null if all are used', () => {
  const range = { first: 2222, last: 2224 }
  assert.equal(lowestFreePort(new Set(), range), 2222)
  assert.equal(lowestFreePort(new Set([2222, 2224]), range), 2223)
  assert.equal(lowestFreePort(new Set([2222, 2223, 2224, 9]), range), null)
})
