import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { ContainerSpec, Containers } from './port.ts'
import { eventTests } from './test/events.ts'
import {
  type Behaviour,
  type Harness,
  hasFault,
  sharedLabels,
  specOf,
  timeoutMs,
  uniqueName,
  until,
} from './test/harness.ts'
import { layerTests } from './test/layers.ts'

/** Tests for every adapter of `Containers`, including the fake. */
export function containersSuite(title: string, open: () => Promise<Harness>): void {
  describe(title, () => {
    let harness: Harness
    let containers: Containers

    before(async () => {
      harness = await open()
      containers = harness.containers
    })
    afterEach(async () => {
      for (const adapter of [harness.containers, harness.neighbour]) {
        for (const { id } of await adapter.list()) await adapter.remove(id)
        // A base after its layers, whose names are longer.
        for (const name of (await adapter.listVolumes()).toSorted((a, b) => b.length - a.length))
          await adapter.removeVolume(name)
      }
    })
    after(async () => {
      await harness?.close()
    })

    const spec = (behaviour: Behaviour, more?: Partial<ContainerSpec>) =>
      specOf(harness.image, behaviour, more)
    const isReady = (id: string) => until(async () => (await containers.logs(id, 100)).includes('ready'))

    async function running(behaviour: Behaviour, more?: Partial<ContainerSpec>): Promise<string> {
      const { id } = await containers.create(spec(behaviour, more))
      await containers.start(id)
      await isReady(id)
      return id
    }

    const opened = {
      get harness() {
        return harness
      },
      get containers() {
        return containers
      },
      spec,
      isReady,
      running,
    }
    eventTests(opened)
    layerTests(opened)

    test("the engine reports its identity and the host's resources", async () => {
      const info = await containers.ping()
      assert.ok(info.name.length > 0 && info.version.length > 0)
      assert.ok(info.cpus >= 1 && info.memoryBytes > 0)
    })

    test('the identity of the engine stays the same', async () => {
      const { id } = await containers.ping()
      assert.match(id, /^\S{4,200}$/)
      assert.equal((await containers.ping()).id, id)
      const unfiltered = harness.unfiltered ?? containers
      assert.equal((await unfiltered.ping()).id, id)
    })

    test('an unreachable engine is engine_down, quickly', { timeout: timeoutMs }, async () => {
      await assert.rejects(harness.away.ping(), hasFault('engine_down'))
      await assert.rejects(harness.away.create(spec('stay')), hasFault('engine_down'))
    })

    test('an OCI runtime that the engine does not list is refused', async () => {
      await containers.ping()
      const { listed, default: byDefault } = containers.runtimes
      assert.ok(byDefault === null || listed.includes(byDefault))
      const unlisted = spec('stay', { runtime: 'roost-test-runtime' })
      await assert.rejects(containers.create(unlisted), hasFault('runtime_missing'))
      assert.deepEqual(await containers.list(), [])
      if (byDefault !== null) await running('stay', { runtime: byDefault })
    })

    test('an image is known or unknown', async () => {
      assert.equal(await containers.hasImage(harness.image), true)
      // A node that pulls images answers only at the start.
      assert.equal(await containers.hasImage('roost-test-nowhere:0'), harness.runsElsewhere)
    })

    test('the network can be created repeatedly and concurrently', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => containers.ensureNetwork()))
      for (const answer of answers) assert.deepEqual(answer, answers[0])
    })

    test('a closed network can be created, and a container in it; or both are refused', async () => {
      if (!containers.closing.can) {
        await assert.rejects(containers.ensureClosedNetwork(), hasFault('engine_fault'))
        await assert.rejects(containers.create(spec('stay', { isClosed: true })), hasFault('engine_fault'))
        assert.ok(containers.closing.notes.length > 0)
        return assert.deepEqual(await containers.list(), [])
      }
      const answers = await Promise.all(Array.from({ length: 4 }, () => containers.ensureClosedNetwork()))
      for (const answer of answers) assert.deepEqual(answer, answers[0])
      const { id } = await containers.create(spec('stay', { isClosed: true }))
      await containers.start(id)
      assert.equal((await containers.inspect(id))?.status, 'running')
    })

    test('a new container is created, labelled and not running', async () => {
      const desired = spec('stay', { labels: { 'roost.agent-name': 'ada' } })
      const { id } = await containers.create(desired)
      const state = await containers.inspect(id)
      assert.equal(state?.name, desired.name)
      assert.equal(state?.status, 'created')
      assert.equal(state?.startedAt, null)
      assert.equal(state?.exitCode, null)
      assert.equal(state?.labels['roost.agent-name'], 'ada')
      assert.ok(state?.labels['roost.install'])
    })

    test('a used name is refused and the attempt leaves nothing behind', async () => {
      const first = spec('stay')
      await containers.create(first)
      await assert.rejects(containers.create({ ...spec('stay'), name: first.name }), hasFault('name_taken'))
      assert.equal((await containers.list()).length, 1)
    })

    test('of ten concurrent creates of one name one succeeds', async () => {
      const desired = spec('stay')
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => containers.create(desired)))
      const losers = results.filter((result) => result.status === 'rejected')
      assert.equal(losers.length, 9)
      for (const loser of losers) assert.ok(hasFault('name_taken')(loser.reason), String(loser.reason))
      assert.equal((await containers.list()).length, 1)
    })

    test('a missing image is refused, or leaves the container waiting for it', async () => {
      const missing = { ...spec('stay'), image: 'roost-test-nowhere:0' }
      if (!harness.runsElsewhere) {
        await assert.rejects(containers.create(missing), hasFault('image_missing'))
        return assert.deepEqual(await containers.list(), [])
      }
      const { id } = await containers.create(missing)
      await assert.rejects(containers.start(id), hasFault('start_pending'))
      const state = await containers.inspect(id)
      assert.equal(state?.status, 'pending')
      assert.match(state?.waiting?.reason ?? '', /roost-test-nowhere/)
      await containers.stop(id, 1)
      assert.equal((await containers.inspect(id))?.waiting, null)
    })

    test('a started container runs, and starting it again changes nothing', async () => {
      const id = await running('stay')
      const state = await containers.inspect(id)
      assert.equal(state?.status, 'running')
      assert.equal(state?.exitCode, null)
      await containers.start(id)
      assert.equal((await containers.inspect(id))?.startedAt, state?.startedAt)
      assert.ok(Math.abs(Date.now() - Date.parse(state?.startedAt ?? '')) < 60_000)
    })

    test('a stop is polite, final and idempotent', async () => {
      const id = await running('stay')
      await containers.stop(id, 10)
      const state = await containers.inspect(id)
      assert.equal(state?.status, 'stopped')
      assert.equal(state?.exitCode, 0)
      assert.equal(state?.oomKilled, false)
      await containers.stop(id, 10)
      assert.equal((await containers.inspect(id))?.status, 'stopped')
    })

    test('a container that ignores SIGTERM is killed after its grace period', async () => {
      const id = await running('stubborn')
      const before = Date.now()
      await containers.stop(id, 1)
      assert.ok(Date.now() - before < timeoutMs)
      const state = await containers.inspect(id)
      assert.equal(state?.status, 'stopped')
      assert.equal(state?.exitCode, 137)
      assert.equal(state?.oomKilled, false)
    })

    test('a stopped container starts again', async () => {
      const id = await running('stay')
      await containers.stop(id, 10)
      await containers.start(id)
      assert.equal((await containers.inspect(id))?.status, 'running')
    })

    test('an unknown container is null, removable and an error for other calls', async () => {
      const id = '0'.repeat(64)
      assert.equal(await containers.inspect(id), null)
      assert.equal(await containers.sample(id), null)
      await containers.remove(id)
      await assert.rejects(containers.start(id), hasFault('no_such_container'))
      await assert.rejects(containers.stop(id, 1), hasFault('no_such_container'))
      await assert.rejects(containers.logs(id, 10), hasFault('no_such_container'))
    })

    test('removing a running container frees its name and keeps its volumes', async () => {
      const desired = spec('stay')
      await containers.createVolume(`${desired.name}-home`, {})
      const mounts: ContainerSpec['mounts'] = [
        { type: 'volume', volume: `${desired.name}-home`, target: '/home/developer' },
      ]
      const { id } = await containers.create({ ...desired, mounts })
      await containers.start(id)
      assert.deepEqual((await containers.inspect(id))?.volumes, [`${desired.name}-home`])
      await containers.remove(id)
      assert.equal(await containers.inspect(id), null)
      assert.deepEqual(await containers.listVolumes(), [`${desired.name}-home`])
      await containers.create({ ...desired, mounts })
    })

    test('names may have underscores and end with a hyphen', async () => {
      const name = `${uniqueName()}_a-`
      const volume = `${name}-home`
      await containers.createVolume(volume, {})
      const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume, target: '/home/developer' }]
      const { id } = await containers.create(spec('stay', { name, mounts }))
      await containers.start(id)
      assert.deepEqual(
        (await containers.list()).map((state) => [state.name, state.status, state.volumes]),
        [[name, 'running', [volume]]],
      )
      assert.deepEqual(await containers.listVolumes(), [volume])
      await containers.remove(id)
      await containers.removeVolume(volume)
      assert.deepEqual(await containers.listVolumes(), [])
    })

    test('a volume outlives the container that wrote to it', async () => {
      const volume = `${uniqueName()}-home`
      await containers.createVolume(volume, {})
      const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume, target: '/home/developer' }]
      const first = await running('remember', { mounts })
      assert.match(await containers.logs(first, 100), /empty/)
      await containers.remove(first)
      const second = await running('remember', { mounts })
      assert.match(await containers.logs(second, 100), /kept/)
    })

    test("a container can read another one's folder but change nothing in it or next to it", async () => {
      const shared = `${uniqueName()}-shared`
      await containers.createVolume(shared, sharedLabels)
      const publisher = await running('publish', {
        mounts: [{ type: 'volume', volume: shared, target: '/home/developer/shared-out' }],
      })
      const home = `${uniqueName()}-home`
      await containers.createVolume(home, {})
      const mounts: ContainerSpec['mounts'] = [
        { type: 'volume', volume: home, target: '/home/developer' },
        { type: 'empty', target: '/home/developer/shared-in' },
      ]
      const one = { volume: shared, target: '/home/developer/shared-in/one', readOnly: true }
      const reader = await running('consume', { mounts: [...mounts, { type: 'volume', ...one }] })
      const linesOf = async (id: string) => (await containers.logs(id, 100)).trimEnd().split('\n')
      assert.deepEqual(await linesOf(reader), ['saw one', 'published', 'ready'])
      // After a restart the mounts are back, and other containers find nothing of them.
      await containers.stop(reader, 10)
      await containers.start(reader)
      const earlier = harness.runsElsewhere ? 0 : 3
      await until(async () => (await linesOf(reader)).length === earlier + 3)
      assert.deepEqual((await linesOf(reader)).slice(earlier), ['saw one', 'published', 'ready'])
      await containers.remove(reader)
      assert.deepEqual(await linesOf(await running('consume', { mounts })), ['saw *', 'nothing', 'ready'])
      await containers.remove(publisher)
    })

    test('a volume mounted by a container is in use, even while the container is stopped', async () => {
      const volume = `${uniqueName()}-shared`
      await containers.createVolume(volume, sharedLabels)
      const id = await running('stay', {
        mounts: [{ type: 'volume', volume, target: '/home/developer', readOnly: true }],
      })
      await assert.rejects(containers.removeVolume(volume), hasFault('volume_in_use'))
      await containers.stop(id, 10)
      await assert.rejects(containers.removeVolume(volume), hasFault('volume_in_use'))
      assert.deepEqual(await containers.listVolumes(), [volume])
      await containers.remove(id)
      await containers.removeVolume(volume)
      assert.deepEqual(await containers.listVolumes(), [])
    })

    test('creating and removing a volume are idempotent', async () => {
      const name = `${uniqueName()}-home`
      await containers.createVolume(name, { 'roost.agent-name': 'ada' })
      await containers.createVolume(name, { 'roost.agent-name': 'ada' })
      assert.deepEqual(await containers.listVolumes(), [name])
      await containers.removeVolume(name)
      await containers.removeVolume(name)
      assert.deepEqual(await containers.listVolumes(), [])
    })

    test('another installation sees and changes none of our objects', async () => {
      const id = await running('stay')
      const volume = `${uniqueName()}-home`
      await containers.createVolume(volume, {})
      assert.deepEqual(await harness.neighbour.list(), [])
      assert.deepEqual(await harness.neighbour.listVolumes(), [])
      assert.equal(await harness.neighbour.inspect(id), null)
      await harness.neighbour.remove(id)
      await harness.neighbour.removeVolume(volume)
      await assert.rejects(harness.neighbour.stop(id, 0), hasFault('no_such_container'))
      assert.equal((await containers.inspect(id))?.status, 'running')
      assert.deepEqual(await containers.listVolumes(), [volume])
    })

    test('logs return the last requested lines, even of a stopped container', async () => {
      const id = await running('talk')
      const last = (await containers.logs(id, 3)).trimEnd().split('\n')
      assert.deepEqual(last, ['line 4', 'line 5', 'ready'])
      await containers.stop(id, 10)
      const all = (await containers.logs(id, 100)).trimEnd().split('\n')
      assert.deepEqual(all, ['line 1', 'line 2', 'line 3', 'line 4', 'line 5', 'ready'])
    })

    test('a sample has memory and its limit, and a CPU rate from the second sample on', async () => {
      const desired = spec('stay')
      const { id } = await containers.create(desired)
      assert.equal(await containers.sample(id), null)
      await containers.start(id)
      await isReady(id)
      const first = await containers.sample(id)
      if (harness.runsElsewhere) return assert.equal(first, null)
      assert.ok(first?.cpuPercent === null || (first?.cpuPercent ?? -1) >= 0)
      assert.ok(first && first.memoryUsedBytes > 0)
      assert.equal(first.memoryLimitBytes, desired.memoryBytes)
      await until(async () => ((await containers.sample(id))?.cpuPercent ?? -1) >= 0)
      await containers.stop(id, 10)
      assert.equal(await containers.sample(id), null)
    })

    test('disk usage has each volume, and the layer of each container', async () => {
      const volume = `${uniqueName()}-home`
      await containers.createVolume(volume, {})
      const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume, target: '/home/developer' }]
      const before = await containers.diskFigures()
      if (harness.runsElsewhere) return assert.equal(before.volumes.size, 0)
      assert.ok((before.volumes.get(volume) ?? 0) < 100_000)
      const id = await running('store', { mounts })
      const { containers: layers, volumes } = await containers.diskFigures()
      const size = volumes.get(volume) ?? 0
      assert.ok(size >= 3_000_000 && size < 3_200_000, String(size))
      if (harness.hasLayers) {
        const layer = layers.get(id) ?? 0
        assert.ok(layer >= 2_000_000 && layer < 2_500_000, String(layer))
      }
      const foreign = await harness.neighbour.diskFigures()
      assert.deepEqual([foreign.volumes.has(volume), foreign.containers.has(id)], [false, false])
    })
  })
}
