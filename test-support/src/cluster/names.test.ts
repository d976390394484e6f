import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostLines } from './names.ts'

const named = (name: string) => ({
  metadata: { name, namespace: 'shop', uid: name, resourceVersion: '1' },
})

test('a Service has its own address, a headless one those of its ready pods and their host names', () => {
  const services = [
    { ...named('web'), spec: { clusterIP: '10.160.200.7' } },
    { ...named('database'), spec: { clusterIP: 'None' } },
    { ...named('external'), spec: {} },
  ]
  const subsets = [
    { addresses: [{ ip: '10.160.101.2', hostname: 'database-0' }, { ip: '10.160.102.2' }] },
    { notReadyAddresses: [{ ip: '10.160.103.2' }] },
  ]
  assert.deepEqual(hostLines(services, [{ ...named('database'), subsets }, named('web')]), [
    '10.160.101.2 database-0.database.shop.svc.cluster.local',
    '10.160.101.2 database.shop.svc.cluster.local',
    '10.160.102.2 database.shop.svc.cluster.local',
    '10.160.200.7 web.shop.svc.cluster.local',
  ])
})

test('pods that are not ready have names only if the Service publishes them', () => {
  const spec = { clusterIP: 'None', publishNotReadyAddresses: true }
  const subsets = [{ notReadyAddresses: [{ ip: '10.160.103.2' }] }]
  assert.deepEqual(hostLines([{ ...named('peers'), spec }], [{ ...named('peers'), subsets }]), [
    '10.160.103.2 peers.shop.svc.cluster.local',
  ])
})
