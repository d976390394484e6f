import assert from 'node:assert/strict'
import { test } from 'node:test'
import { specOf } from '../test/harness.ts'
import { type Pod, type PodStatus, quantity } from './objects.ts'
import type { ContainerRecord } from './record.ts'
import { containerState, hasEnded, pending, provesEnd } from './state.ts'
import { podStatus } from './test/test-api.ts'

const { env: _, ...spec } = { ...specOf('image', 'stay'), name: 'agent-ada', labels: { a: 'b' } }
const record: ContainerRecord = {
  secret: { name: 'roost-agent-ada', uid: 'u', resourceVersion: '1' },
  ...{ id: 'i', name: 'agent-ada', spec, wasStarted: true, openRun: '1', lastRun: null, superseded: [] },
}
const created = '2026-01-05T07:00:00.000Z'

function pod(
  status: PodStatus,
  more: { deleted?: boolean; nodeName?: string | null; movable?: boolean } = {},
): Pod {
  const { nodeName = 'n1', deleted = false, movable = false } = more
  return {
    metadata: {
      ...{ name: 'agent-ada-1', uid: 'p', resourceVersion: '2', creationTimestamp: created },
      ...(deleted && { deletionTimestamp: created }),
      annotations: movable ? { 'roost.movable': 'yes' } : {},
    },
    spec: nodeName === null ? {} : { nodeName },
    status,
  }
}
const stateOf = (pods: Pod[], changed: Partial<ContainerRecord> = {}) =>
  containerState({ ...record, ...changed }, pods, 'one')

const crashed: PodStatus = {
  phase: 'Running',
  containerStatuses: [
    {
      name: 'agent',
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
      lastState: { terminated: { exitCode: 137, reason: 'OOMKilled', containerID: 'c' } },
    },
  ],
}

test('a container without a pod is created, or stopped with its last result', () => {
  assert.equal(stateOf([], { wasStarted: false }).status, 'created')
  const lastRun = { startedAt: created, exitCode: 3, oomKilled: true }
  const { status, exitCode, oomKilled, startedAt, labels } = stateOf([], { lastRun })
  assert.deepEqual([status, exitCode, oomKilled, startedAt], ['stopped', 3, true, created])
  assert.deepEqual(labels, { a: 'b', 'roost.install': 'one' })
})

test('pods become states', () => {
  const running = podStatus.running()
  const table: [string, Pod[], string][] = [
    ['running', [pod(running)], 'running'],
    ['deleted, still running', [pod(running, { deleted: true })], 'running'],
    ['deleted, ended', [pod(podStatus.ended(0), { deleted: true })], 'stopped'],
    ['between two runs', [pod(crashed)], 'stopped'],
    ['evicted', [pod({ phase: 'Failed', reason: 'Evicted' })], 'stopped'],
    ['unschedulable', [pod(podStatus.unschedulable('no room'), { nodeName: null })], 'pending'],
    ['image', [pod(podStatus.waiting('ImagePullBackOff', 'no such image'))], 'pending'],
    ['being created', [pod(podStatus.waiting('ContainerCreating'))], 'pending'],
    ['no status yet', [pod({ phase: 'Pending' }, { nodeName: null })], 'pending'],
    ['node silent', [pod(podStatus.lost())], 'lost'],
    ['node silent, deleted', [pod(podStatus.lost(), { deleted: true })], 'lost'],
    ['marked by an old cluster', [pod({ ...running, reason: 'NodeLost' })], 'lost'],
    ['new beside an old one', [pod(podStatus.ended(0), { deleted: true }), pod(running)], 'running'],
  ]
  for (const [title, pods, status] of table) assert.equal(stateOf(pods).status, status, title)
})

test('between two runs the state has the result of the first', () => {
  const { exitCode, oomKilled } = stateOf([pod(crashed)])
  assert.deepEqual([exitCode, oomKilled], [137, true])
})

test('a waiting container says why and since when, in the words of the cluster', () => {
  const prepare: PodStatus = {
    phase: 'Pending',
    initContainerStatuses: [
      { name: 'prepare', state: { terminated: { exitCode: 1, message: 'cp: no space left\n' } } },
    ],
  }
  const table: [PodStatus, RegExp, boolean][] = [
    [
      podStatus.unschedulable('0/3 nodes: 3 Insufficient memory.'),
      /No node can run .* 3 Insufficient memory\./,
      true,
    ],
    [
      podStatus.waiting('ErrImagePull', 'no such host'),
      /image cannot be used \(ErrImagePull\): no such host/,
      true,
    ],
    [podStatus.waiting('CreateContainerConfigError', 'no secret'), /cannot start .*: no secret/, true],
    [prepare, /volumes cannot be prepared: cp: no space left$/, true],
    [podStatus.waiting('ContainerCreating'), /node n1 prepares/, false],
  ]
  for (const [status, reason, isObstacle] of table) {
    const found = pending(pod(status))
    assert.match(found.reason, reason)
    assert.equal(found.isObstacle, isObstacle, found.reason)
  }
  assert.deepEqual(stateOf([pod(podStatus.lost(), { movable: true })]).waiting, {
    reason: 'The node n1 does not respond. The container may still run there.',
    since: '2026-01-05T09:00:00.000Z',
    canMove: true,
  })
  assert.equal(stateOf([pod(podStatus.running())]).waiting, null)
})

test('a deleted pod counts as running until its node reports the end', () => {
  const starting = pod(podStatus.waiting('ContainerCreating'), { deleted: true })
  assert.equal(hasEnded(starting), false)
  assert.equal(hasEnded(pod({ phase: 'Pending' }, { deleted: true, nodeName: null })), true)
  assert.equal(hasEnded(pod(crashed, { deleted: true })), false)
  assert.equal(hasEnded(pod(podStatus.forgotten(), { deleted: true })), true)
  assert.equal(hasEnded(pod(podStatus.forgotten())), false)
})

test('a result from before the deletion is no end, because the node may restart the container', () => {
  const ended = (finishedAt: string) => {
    const result = pod(podStatus.ended(1, 'c', finishedAt))
    // Requested at 08:00:10.
    const deletion = { deletionTimestamp: '2026-01-05T08:00:40Z', deletionGracePeriodSeconds: 30 }
    return { ...result, metadata: { ...result.metadata, ...deletion } }
  }
  assert.equal(hasEnded(ended('2026-01-05T08:00:09Z')), false)
  assert.equal(hasEnded(ended('2026-01-05T08:00:10Z')), true)
  assert.equal(hasEnded(ended('2026-01-05T08:00:12Z')), true)
  const finished = ended('2026-01-05T08:00:09Z')
  finished.status = { ...finished.status, phase: 'Failed' }
  assert.deepEqual([hasEnded(finished), provesEnd(finished)], [true, false])
})

test('quantities are numbers', () => {
  const table: [string | undefined, number | null][] = [
    ['250m', 0.25],
    ['2', 2],
    ['1.5', 1.5],
    ['512Mi', 512 * 1024 ** 2],
    ['16Ki', 16_384],
    ['1e3', 1000],
    ['2G', 2e9],
    ['x', null],
    ['5Q', null],
    [undefined, null],
  ]
  for (const [text, value] of table) assert.equal(quantity(text), value, text)
})
