import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planVolume } from './storage.ts'

const claim = (
  storageClassName: string,
  { node, mode = 'ReadWriteOnce' }: { node?: string; mode?: string } = {},
) => ({
  metadata: {
    name: 'workspace',
    namespace: 'agents',
    uid: '1',
    resourceVersion: '1',
    annotations: node ? { 'volume.kubernetes.io/selected-node': node } : undefined,
  },
  spec: { storageClassName, accessModes: [mode], resources: { requests: { storage: '1Gi' } } },
})

test('a local claim waits for its node, and then gets a folder that only this node may use', () => {
  assert.equal(planVolume(claim('roost-local'), '/volumes'), null)
  const planned = planVolume(claim('roost-local', { node: 'node-2' }), '/volumes')
  assert.equal(planned?.folder, '/volumes/node-2/pvc-1')
  assert.match(
    JSON.stringify(planned?.object),
    /"local":\{"path":"\/volumes\/node-2\/pvc-1"\}.*"values":\["node-2"\]/,
  )
})

test('a shared claim gets a folder for all nodes and users immediately', () => {
  const planned = planVolume(claim('roost-shared', { mode: 'ReadWriteMany' }), '/volumes')
  assert.deepEqual([planned?.folder, planned?.mode], ['/volumes/shared/pvc-1', 0o777])
  assert.doesNotMatch(JSON.stringify(planned?.object), /nodeAffinity/)
})

test('no volume for a bound or deleted claim, another class, or a local claim for many nodes', () => {
  const local = claim('roost-local', { node: 'node-2' })
  const none = [
    { ...local, spec: { ...local.spec, volumeName: 'pvc-1' } },
    { ...local, metadata: { ...local.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    claim('other', { node: 'node-2' }),
    claim('roost-local', { node: 'node-2', mode: 'ReadWriteMany' }),
  ]
  for (const each of none) assert.equal(planVolume(each, '/volumes'), null)
})
