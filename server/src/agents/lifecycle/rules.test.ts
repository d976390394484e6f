import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFolderMark } from './folder-mount.ts'
import {
  exitsWithin,
  isRestartLoop,
  lowestFreePort,
  type Made,
  newsGuard,
  plan,
  recreateReasonsOf,
  type Seen,
  type Step,
  wantedFor,
} from './rules.ts'

const running: Seen = { id: 'c', status: 'running' }
const stopped: Seen = { id: 'c', status: 'stopped' }
const created: Seen = { id: 'c', status: 'created' }

const cases: [string, Parameters<typeof plan>[0], Step[]][] = [
  ['nothing there', { desired: 'running', held: false, seen: null, reasons: [] }, ['create', 'start']],
  ['never started', { desired: 'running', held: false, seen: created, reasons: [] }, ['start']],
  ['standing still', { desired: 'running', held: false, seen: stopped, reasons: [] }, ['start']],
  ['runs already', { desired: 'running', held: false, seen: running, reasons: [] }, []],
  [
    'standing still and out of date',
    { desired: 'running', held: false, seen: stopped, reasons: ['resources'] },
    ['remove', 'create', 'start'],
  ],
  ['runs and out of date', { desired: 'running', held: false, seen: running, reasons: ['runtime'] }, []],
  ['to be stopped', { desired: 'stopped', held: false, seen: running, reasons: [] }, ['stop']],
  ['stopped already', { desired: 'stopped', held: false, seen: stopped, reasons: ['runtime'] }, []],
  ['stopped, never started', { desired: 'stopped', held: false, seen: created, reasons: [] }, []],
  ['stopped, none there', { desired: 'stopped', held: false, seen: null, reasons: [] }, []],
  [
    'held down, the engine restarted it',
    { desired: 'running', held: true, seen: running, reasons: [] },
    ['stop'],
  ],
  ['held down', { desired: 'running', held: true, seen: stopped, reasons: [] }, []],
  [
    'held down between two starts',
    { desired: 'running', held: true, seen: stopped, mayRestart: true, reasons: [] },
    ['stop'],
  ],
  [
    'to be stopped between two starts',
    { desired: 'stopped', held: false, seen: stopped, mayRestart: true, reasons: [] },
    ['stop'],
  ],
  [
    'to be stopped, never started, whatever the policy',
    { desired: 'stopped', held: false, seen: created, mayRestart: true, reasons: [] },
    [],
  ],
  ['held down, none there', { desired: 'running', held: true, seen: null, reasons: [] }, []],
]
for (const [title, wanted, steps] of cases) {
  test(`plan: ${title} → ${steps.join(', ') || 'nothing'}`, () => assert.deepEqual(plan(wanted), steps))
}

const made: Made = {
  cpu: '2',
  memory: '4g',
  full_capabilities: false,
  runtime: 'claude-code',
  agent_key_id: 'k1',
  image_version: 'v1',
  folders: ['a', 'b'],
}
const reasons: [Partial<Made>, string[]][] = [
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
test('another network calls for a new container, and what was made before there was a choice is open', () => {
  assert.deepEqual(recreateReasonsOf(made, { ...made, network: 'open' }), [])
  assert.deepEqual(recreateReasonsOf(made, { ...made, network: 'closed' }), ['egress'])
  assert.deepEqual(recreateReasonsOf({ ...made, network: 'closed' }, { ...made, network: 'open' }), [
    'egress',
  ])
})
test('without a container there is nothing to recreate', () => {
  assert.deepEqual(recreateReasonsOf(null, made), [])
})
test('what is wanted is the row, the image and the folders of now', () => {
  const wanted = (...volumes: string[]) =>
    wantedFor(
      { ...made, egress_mode: 'off' },
      'v9',
      volumes.map((volume) => ({ sourceId: 's', name: 'ada', volume })),
    )
  assert.deepEqual(wanted(), { ...made, image_version: 'v9', folders: [], network: 'open' })
  const marks = ['one', 'two'].map((volume) => wanted(volume).folders)
  assert.notDeepEqual(marks[0], marks[1], 'another agent of the same name has another folder')
  assert.deepEqual(readFolderMark(marks[0]?.[0] ?? ''), { name: 'ada', volume: 'one' })
})

test('five ends within ten minutes are a restart loop, four are not', () => {
  const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString()
  const four = [0, 1, 2].reduce((recent, minute) => exitsWithin(recent, at(minute)), exitsWithin([], at(0)))
  assert.equal(isRestartLoop(four), false)
  assert.equal(isRestartLoop(exitsWithin(four, at(9))), true)
  assert.equal(isRestartLoop(exitsWithin(four, at(11))), false)
})

test('older news is ignored, unless the row is from a future that cannot be', () => {
  const at = '2030-01-01T00:00:10.000Z'
  const now = new Date('2030-01-01T00:00:11.000Z')
  const guard = (observed_at: string, strictly: boolean) => newsGuard({ observed_at }, { at, strictly }, now)
  assert.deepEqual(guard('2030-01-01T00:00:05.000Z', false), { observedUntil: at })
  assert.deepEqual(guard('2030-01-01T00:00:12.000Z', true), { observedBefore: at })
  assert.deepEqual(guard('2030-01-01T00:01:11.001Z', true), {})
})

test('the lowest free port is taken; none is left when all are', () => {
  const range = { first: 2222, last: 2224 }
  assert.equal(lowestFreePort(new Set(), range), 2222)
  assert.equal(lowestFreePort(new Set([2222, 2224]), range), 2223)
  assert.equal(lowestFreePort(new Set([2222, 2223, 2224, 9]), range), null)
})
