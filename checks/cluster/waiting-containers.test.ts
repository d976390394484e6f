/** Containers that a real cluster cannot run yet, or whose node it has lost. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Pod } from '../../server/src/ports/containers/kubernetes/objects.ts'
import { idLabel } from '../../server/src/ports/containers/kubernetes/record.ts'
import type { ContainerSpec, Containers } from '../../server/src/ports/containers/port.ts'
import { collect, hasFault, specOf, until } from '../../server/src/ports/containers/test/harness.ts'
import { openTestAdapter, type TestAdapter } from './test-adapter.ts'

/** A kubelet of 1.20 notices the end of some pods only at its periodic synchronization. */
const oldKubeletMs = 150_000
const podsPath = '/api/v1/namespaces/default/pods'

describe('containers that wait for their cluster', () => {
  let t: TestAdapter

  before(async () => {
    t = await openTestAdapter()
  })
  after(async () => {
    await t?.close()
  })

  const podsOf = async (id: string) =>
    (await t.cluster.api.request<{ items: Pod[] }>('GET', `${podsPath}?labelSelector=${idLabel}%3D${id}`))
      .items
  const nodeOf = async (id: string) => {
    const name = (await podsOf(id))[0]?.spec.nodeName
    const node = t.cluster.nodes.find((each) => each.name === name)
    assert.ok(node)
    return node
  }

  async function withVolume(containers: Containers): Promise<ContainerSpec> {
    const spec = specOf(t.image, 'stay')
    const volume = `${spec.name}-home`
    await containers.createVolume(volume, {})
    return { ...spec, mounts: [{ type: 'volume', volume, target: '/home/developer' }] }
  }

  async function isPending(containers: Containers, spec: ContainerSpec, reason: RegExp): Promise<void> {
    const { id } = await containers.create(spec)
    await assert.rejects(containers.start(id), (error: Error) => {
      assert.ok(hasFault('start_pending')(error), String(error))
      assert.match(error.message, reason)
      return true
    })
    assert.equal((await containers.inspect(id))?.status, 'pending')
    await containers.remove(id)
  }

  test('a cluster without room is named with the words of the scheduler', async () => {
    const containers = t.open({ memoryRequest: '512Gi' })
    const spec = specOf(t.image, 'stay', { memoryBytes: 1024 ** 4 })
    await isPending(containers, spec, /No node can run the container: .*Insufficient memory/)
  })

  test('a volume without storage is named with the words of the scheduler', async () => {
    const containers = t.open({ storageClass: 'roost-nowhere' })
    await isPending(containers, await withVolume(containers), /PersistentVolumeClaim/)
  })

  test('an exhausted quota is quota_exceeded', async () => {
    const containers = t.open()
    const path = '/api/v1/namespaces/default/resourcequotas'
    const quota = { metadata: { name: 'full' }, spec: { hard: { pods: '0' } } }
    await t.cluster.api.request('POST', path, quota)
    try {
      // The quota takes effect when the controller has counted.
      await until(async () => {
        const { status } = await t.cluster.api.request<{ status?: { hard?: object } }>('GET', `${path}/full`)
        return status?.hard !== undefined
      })
      const { id } = await containers.create(specOf(t.image, 'stay'))
      await assert.rejects(containers.start(id), hasFault('quota_exceeded'))
      await containers.remove(id)
    } finally {
      await t.cluster.api.request('DELETE', `${path}/full`)
    }
  })

  test('an API server that is away changes nothing for containers, and is engine_down', async () => {
    const containers = t.open()
    const events = collect(containers)
    await events.next('resync')
    const { id } = await containers.create(specOf(t.image, 'stay'))
    await containers.start(id)
    const { startedAt } = (await containers.inspect(id)) ?? {}
    await t.cluster.stopApiServer()
    await assert.rejects(containers.inspect(id), hasFault('engine_down'))
    await assert.rejects(containers.start(id), hasFault('engine_down'))
    await t.cluster.startApiServer()
    await events.next('resync')
    const state = await containers.inspect(id)
    assert.deepEqual([state?.status, state?.startedAt], ['running', startedAt])
    await containers.remove(id)
    await events.next('removed', id)
    await events.stop()
  })

  test('a watch of an expired version is followed by resync', async () => {
    const containers = t.open()
    const events = collect(containers)
    await events.next('resync')
    await t.cluster.expireWatches()
    await events.next('resync')
    const { id } = await containers.create(specOf(t.image, 'stay'))
    await containers.remove(id)
    await events.next('removed', id)
    await events.stop()
  })

  test('a container on a node without power is lost, and is back with its node', async () => {
    const containers = t.open()
    const events = collect(containers)
    await events.next('resync')
    const { id } = await containers.create(await withVolume(containers))
    await containers.start(id)
    await events.next('started', id)
    const node = await nodeOf(id)
    await node.kill()
    const waiting = await events.next('waiting', id)
    assert.deepEqual([waiting.status, waiting.canMove], ['lost', false])
    await assert.rejects(containers.start(id, { takesOver: true }), hasFault('node_lost'))
    assert.equal((await podsOf(id)).length, 1)
    await node.start()
    await events.next('started', id)
    await until(async () => (await containers.inspect(id))?.status === 'running')
    await containers.remove(id)
    await events.stop()
  })

  test('a container whose volumes can move is taken over, and its old node ends the old one', async () => {
    const { shared } = t.cluster.storageClasses
    const containers = t.open({ storageClass: shared, accessMode: 'ReadWriteMany' })
    const events = collect(containers)
    await events.next('resync')
    const { id } = await containers.create(await withVolume(containers))
    await containers.start(id)
    // Before that it may wait for its image or volume.
    await events.next('started', id)
    const node = await nodeOf(id)
    await node.kill()
    assert.equal((await events.next('waiting', id)).canMove, true)
    await containers.start(id, { takesOver: true })
    assert.equal((await containers.inspect(id))?.status, 'running')
    const pods = await podsOf(id)
    assert.equal(new Set(pods.map(({ spec }) => spec.nodeName)).size, 2)
    await node.start()
    await until(async () => (await podsOf(id)).length === 1, oldKubeletMs)
    assert.equal((await containers.inspect(id))?.status, 'running')
    await containers.remove(id)
    await events.stop()
  })
})
