import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestCertificates } from '../../../test/certificates.ts'
import { createTestClock } from '../../../test/clock.ts'
import type { ContainerEvent, ContainerSpec, Containers } from '../port.ts'
import { hasFault, sharedLabels, specOf, until } from '../test/harness.ts'
import { createKubernetesContainers, type KubernetesSettings } from './kubernetes.ts'
import type { PodStatus } from './objects.ts'
import { fenceSeconds } from './runs.ts'
import { testSettings } from './test/settings.ts'
import { openTestApi, podStatus } from './test/test-api.ts'

const certificate = createTestCertificates()('api')
const opened: { close(): Promise<void> }[] = []
after(async () => {
  for (const each of opened) await each.close()
})

/** An own server for each test; no test sees the objects of another. */
async function world(settings: Partial<KubernetesSettings> = {}, startSeconds = 60) {
  const server = await openTestApi(certificate)
  const clock = createTestClock()
  const open = (install = 'one', other: Partial<KubernetesSettings> = {}) =>
    createKubernetesContainers(server.connection, {
      ...{ install, clock, startSeconds, namespace: null },
      settings: { ...testSettings, ...settings, ...other },
      lookup: async () => ['10.1.2.3'],
    })
  const containers = open()
  const close = async () => {
    await containers.close()
    await server.close()
  }
  opened.push({ close })
  const podNames = () => server.objects('pods').map(({ metadata }) => metadata.name)
  /** Reports every new pod as running, as a node would. */
  const runPods = () => {
    for (const pod of server.objects('pods'))
      if (pod.status === undefined)
        server.setPodStatus(pod.metadata.name, podStatus.running(`c-${pod.metadata.uid}`))
  }
  async function running(
    spec: ContainerSpec = specOf('image', 'stay'),
  ): Promise<{ id: string; pod: string }> {
    const { id } = await containers.create(spec)
    const before = podNames()
    const started = containers.start(id)
    await until(async () => podNames().length > before.length)
    runPods()
    await started
    return { id, pod: podNames().find((name) => !before.includes(name)) ?? '' }
  }
  const podNamed = (name: string) => {
    const pod = server.objects('pods').find(({ metadata }) => metadata.name === name)
    assert.ok(pod, name)
    return pod
  }
  const waitOf = (name: string) => numberIn(podNamed(name), 'ROOST_START_WAIT_SECONDS')
  const deleted = (name: string) => podNamed(name).metadata.deletionTimestamp !== undefined
  async function stop(id: string, pod: string, status: PodStatus): Promise<void> {
    const stopped = containers.stop(id, 5)
    await until(async () => deleted(pod))
    server.setPodStatus(pod, status)
    await stopped
  }
  /** Returns the name of the new pod. */
  async function startAgain(id: string): Promise<string> {
    const before = new Set(server.objects('pods').map(({ metadata }) => metadata.uid))
    const fresh = () => server.objects('pods').find(({ metadata }) => !before.has(metadata.uid))
    const started = containers.start(id)
    await until(async () => fresh() !== undefined)
    runPods()
    await started
    return fresh()?.metadata.name ?? ''
  }
  return {
    ...{ server, clock, containers, open, podNames, runPods, running },
    ...{ podNamed, waitOf, deleted, stop, startAgain },
  }
}
const silent = { type: 'Ready', status: 'Unknown', lastTransitionTime: '2026-01-05T08:00:40Z' }
type World = Awaited<ReturnType<typeof world>>

/** A number in the environment of a pod's container. */
function numberIn({ spec }: Record<string, unknown>, variable: string): number {
  const { containers } = spec as { containers: { env: { name: string; value: string }[] }[] }
  return Number(containers[0]?.env.find(({ name }) => name === variable)?.value)
}

const requestsOf = (requests: { method: string; path: string }[]) =>
  requests.map(({ method, path }) => `${method} ${path.replace(/^.*\/agents\//, '')}`)

async function withHome({ containers }: { containers: Containers }, more: Partial<ContainerSpec> = {}) {
  const spec = specOf('image', 'stay', more)
  await containers.createVolume(`${spec.name}-home`, {})
  return {
    ...spec,
    mounts: [{ type: 'volume' as const, volume: `${spec.name}-home`, target: '/home/developer' }],
  }
}

test('any number of containers is listed with two requests, and one is inspected with two', async () => {
  const t = await world()
  for (let count = 0; count < 5; count += 1) await t.containers.create(specOf('image', 'stay'))
  t.server.requests.length = 0
  const states = await t.containers.list()
  assert.equal(states.length, 5)
  assert.deepEqual(requestsOf(t.server.requests).toSorted(), ['GET pods', 'GET secrets'])
  t.server.requests.length = 0
  await t.containers.inspect(states[0]?.id ?? '')
  assert.equal(t.server.requests.length, 2)
})

test('concurrent starts in several processes create one pod', async () => {
  const t = await world()
  const { id } = await t.containers.create(specOf('image', 'stay'))
  const others = Array.from({ length: 4 }, () => t.open())
  const starts = [t.containers, ...others].map((each) => each.start(id))
  await until(async () => t.podNames().length > 0)
  t.runPods()
  await Promise.all(starts)
  assert.equal(t.podNames().length, 1)
  for (const each of others) await each.close()
})

test('of two pods, which a suspended process left, the one with the higher start number stays', async () => {
  const cases: [number, string, boolean][] = [
    [-1, '2031-01-01T00:00:00Z', false],
    [0, '2031-01-01T00:00:00Z', false],
    [1, '2001-01-01T00:00:00Z', true],
  ]
  for (const [difference, creationTimestamp, stays] of cases) {
    const t = await world()
    const { id, pod } = await t.running()
    const [first] = t.server.objects('pods')
    assert.ok(first)
    const number = numberIn(first, 'ROOST_START_NUMBER')
    const twin = JSON.parse(JSON.stringify(first).replaceAll(`"${number}"`, `"${number + difference}"`))
    twin.metadata = { ...twin.metadata, name: 'twin', uid: 'twin', creationTimestamp }
    t.server.put('pods', twin)
    await t.containers.start(id)
    const wanted = t.server.objects('pods').filter(({ metadata }) => !metadata.deletionTimestamp)
    assert.deepEqual(
      wanted.map(({ metadata }) => metadata.name),
      [stays ? 'twin' : pod],
    )
  }
})

test('a start after a known end does not wait for an older container', async () => {
  const t = await world()
  const { id, pod } = await t.running(await withHome(t))
  assert.equal(t.waitOf(pod), 0)
  await t.stop(id, pod, podStatus.ended(0))
  const second = await t.startAgain(id)
  assert.equal(t.waitOf(second), 0)
  t.server.setPodStatus(second, { ...podStatus.ended(1), phase: 'Failed' })
  assert.equal(t.waitOf(await t.startAgain(id)), 0)
})

test('a start waits for an older container whose end is not known', async () => {
  const ends: Record<string, (t: World, pod: string, id: string) => Promise<void> | void> = {
    'deleted by force': (t, pod) => t.server.drop('pods', pod),
    'deleted by force during a stop': async (t, pod, id) => {
      const stopped = t.containers.stop(id, 5)
      await until(async () => t.deleted(pod))
      t.server.drop('pods', pod)
      await stopped
    },
    'the node was removed': (t, pod) =>
      t.server.setPodStatus(pod, { ...podStatus.running(), phase: 'Failed' }),
    'the node was removed between two runs': (t, pod) =>
      t.server.setPodStatus(pod, {
        ...podStatus.ended(1),
        phase: 'Failed',
        conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' }],
      }),
  }
  for (const [title, end] of Object.entries(ends)) {
    const t = await world()
    const { id, pod } = await t.running(await withHome(t))
    await end(t, pod, id)
    const second = await t.startAgain(id)
    assert.equal(t.waitOf(second), fenceSeconds, title)
    // It ran for half an hour, so that the older one has noticed.
    await t.stop(id, second, podStatus.ended(0))
    assert.equal(t.waitOf(await t.startAgain(id)), 0, title)
  }
})

test('a run that is shorter than its own wait does not end an older container', async () => {
  const t = await world()
  const { id, pod } = await t.running(await withHome(t))
  t.server.drop('pods', pod)
  const second = await t.startAgain(id)
  await t.stop(id, second, podStatus.ended(0, 'c', '2026-01-05T08:30:05Z', '2026-01-05T08:30:01Z'))
  assert.equal(t.waitOf(await t.startAgain(id)), fenceSeconds)
})

test('a takeover that failed or never ran leaves the wait to the next start', async () => {
  const t = await world({ accessMode: 'ReadWriteMany' })
  const { id, pod } = await t.running(await withHome(t))
  t.server.setPodStatus(pod, podStatus.lost())
  t.server.intercept(({ method, path }, response) => {
    if (method !== 'POST' || !path.endsWith('/pods')) return false
    response.writeHead(403).end(JSON.stringify({ message: 'no', reason: 'Forbidden' }))
    return true
  })
  await assert.rejects(t.containers.start(id, { takesOver: true }), hasFault('engine_fault'))
  t.server.intercept(null)
  const starting = t.containers.start(id)
  await until(async () => t.podNames().length === 2)
  const second = t.podNames().find((name) => name !== pod) ?? ''
  assert.equal(t.waitOf(second), fenceSeconds)
  // It has no node yet, so its deletion removes it.
  await Promise.all([assert.rejects(starting, hasFault('engine_fault')), t.containers.stop(id, 5)])
  assert.equal(t.waitOf(await t.startAgain(id)), fenceSeconds)
})

test('a pod that is deleted between two runs counts as running until it is gone', async () => {
  const t = await world()
  const { id, pod } = await t.running(await withHome(t))
  t.server.setPodStatus(pod, podStatus.ended(1, 'c', '2026-01-05T08:29:00Z'))
  let hasStopped = false
  const stopped = t.containers.stop(id, 5).then(() => {
    hasStopped = true
  })
  await until(async () => t.deleted(pod))
  t.server.setPodStatus(pod, podStatus.running('again'))
  assert.equal((await t.containers.inspect(id))?.status, 'running')
  assert.equal(hasStopped, false)
  t.server.setPodStatus(pod, podStatus.ended(143, 'again'))
  await stopped
  const record = t.server.objects('secrets').find(({ type }) => type === 'roost/container')
  assert.match(record?.metadata.annotations?.['roost.last-run'] ?? '', /"exitCode":143/)
  assert.equal(t.waitOf(await t.startAgain(id)), 0)
})

test('a run after a stop has a new pod, a higher number, and does not wait for the old object', async () => {
  const t = await world()
  const numberOf = (name: string) => numberIn(t.podNamed(name), 'ROOST_START_NUMBER')
  const { id, pod } = await t.running(await withHome(t))
  const first = numberOf(pod)
  const stopped = t.containers.stop(id, 5)
  await until(async () => t.server.objects('pods')[0]?.metadata.deletionTimestamp !== undefined)
  t.server.setPodStatus(pod, podStatus.ended(0))
  await stopped
  const state = await t.containers.inspect(id)
  assert.deepEqual([state?.status, state?.exitCode], ['stopped', 0])

  const started = t.containers.start(id)
  await until(async () => t.podNames().length === 2)
  t.runPods()
  await started
  assert.equal((await t.containers.inspect(id))?.status, 'running')
  const second = t.podNames().find((name) => name !== pod) ?? ''
  assert.ok(numberOf(second) > first, `${numberOf(second)} > ${first}`)
})

test('a full cluster, an image and a volume are start_pending with their sentence, and the pod stays', async () => {
  const cases = [
    podStatus.unschedulable('0/3 nodes are available: 3 Insufficient memory.'),
    podStatus.unschedulable('0/3 nodes are available: 3 pod has unbound immediate PersistentVolumeClaims.'),
    podStatus.waiting('ImagePullBackOff', 'Back-off pulling image "nowhere:1"'),
  ]
  for (const status of cases) {
    const t = await world({}, 0.1)
    const { id } = await t.containers.create(specOf('image', 'stay'))
    t.server.intercept(({ method, path }) => {
      // The scheduler and the kubelet report before the first list.
      if (method === 'GET' && path.endsWith('/pods'))
        for (const pod of t.server.objects('pods'))
          if (pod.status === undefined)
            t.server.setPodStatus(pod.metadata.name, status, status.containerStatuses ? 'n1' : null)
      return false
    })
    const sentence =
      status.conditions?.[0]?.message ?? status.containerStatuses?.[0]?.state?.waiting?.message ?? ''
    await assert.rejects(t.containers.start(id), (error: Error) => {
      assert.ok(hasFault('start_pending')(error), String(error))
      assert.ok(error.message.includes(sentence), error.message)
      return true
    })
    const state = await t.containers.inspect(id)
    assert.equal(state?.status, 'pending')
    assert.ok(state.waiting?.reason.includes(sentence))
    const stopped = t.containers.stop(id, 1)
    await until(async () => t.server.objects('pods').every(({ metadata }) => metadata.deletionTimestamp))
    for (const name of t.podNames()) t.server.drop('pods', name)
    await stopped
    assert.equal((await t.containers.inspect(id))?.status, 'stopped')
  }
})

test('a container that its node cannot find any more has ended, without a result', async () => {
  const t = await world()
  const events = collectEvents(t.containers)
  await events.resync()
  const { id, pod } = await t.running()
  const stopped = t.containers.stop(id, 5)
  await until(async () => t.server.objects('pods')[0]?.metadata.deletionTimestamp !== undefined)
  t.server.setPodStatus(pod, podStatus.forgotten())
  await stopped
  const state = await t.containers.inspect(id)
  assert.deepEqual([state?.status, state?.exitCode], ['stopped', null])
  await until(async () => events.seen.at(-1)?.type === 'exited')
  const count = events.seen.length
  t.server.drop('pods', pod)
  await t.containers.remove(id)
  await until(async () => events.seen.length > count)
  assert.equal(events.seen[count]?.type, 'removed', 'the end is reported once')
  await events.stop()
})

test('an exhausted quota is quota_exceeded, and no pod is left', async () => {
  const t = await world()
  const { id } = await t.containers.create(specOf('image', 'stay'))
  t.server.intercept(({ method, path }, response) => {
    if (method !== 'POST' || !path.endsWith('/pods')) return false
    const message =
      'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3'
    response.writeHead(403).end(JSON.stringify({ message, reason: 'Forbidden' }))
    return true
  })
  await assert.rejects(t.containers.start(id), hasFault('quota_exceeded'))
  assert.deepEqual(t.podNames(), [])
  assert.equal((await t.containers.inspect(id))?.status, 'stopped')
})

test('a lost container is neither started nor removed, and its stop waits for the node', async () => {
  const t = await world()
  const { id, pod } = await t.running(await withHome(t))
  t.server.setPodStatus(pod, podStatus.lost())
  const state = await t.containers.inspect(id)
  assert.deepEqual([state?.status, state?.waiting?.canMove], ['lost', false])
  for (const options of [undefined, { takesOver: true }])
    await assert.rejects(t.containers.start(id, options), hasFault('node_lost'))
  await assert.rejects(t.containers.remove(id), hasFault('node_lost'))
  await t.containers.stop(id, 5)
  assert.equal((await t.containers.inspect(id))?.status, 'lost')
  await assert.rejects(t.containers.start(id), hasFault('node_lost'))
  t.server.setPodStatus(pod, podStatus.ended(143))
  assert.equal((await t.containers.inspect(id))?.status, 'stopped')
  assert.deepEqual(t.podNames(), [pod])
})

test('a lost container whose volumes can move is taken over, and its return changes nothing', async () => {
  const t = await world({ accessMode: 'ReadWriteMany' })
  const { id, pod } = await t.running(await withHome(t))
  const events = collectEvents(t.containers)
  await events.resync()
  t.server.setPodStatus(pod, podStatus.lost())
  await until(async () => events.seen.some(({ type }) => type === 'waiting'))
  assert.equal((await t.containers.inspect(id))?.waiting?.canMove, true)
  await assert.rejects(t.containers.start(id), hasFault('node_lost'))

  const started = t.containers.start(id, { takesOver: true })
  await until(async () => t.podNames().length === 2)
  t.runPods()
  await started
  assert.equal((await t.containers.inspect(id))?.status, 'running')
  const next = t.server.objects('pods').find(({ metadata }) => metadata.name !== pod)
  assert.match(JSON.stringify(next?.spec), new RegExp(`"ROOST_START_WAIT_SECONDS","value":"${fenceSeconds}"`))
  assert.doesNotMatch(
    JSON.stringify(next?.spec),
    /initContainers/,
    'its volumes were filled for the lost one',
  )
  const old = t.server.objects('pods').find(({ metadata }) => metadata.name === pod)
  assert.ok(old?.metadata.deletionTimestamp, 'its node ends it when it returns')

  await until(async () => events.seen.at(-1)?.type === 'started')
  const count = events.seen.length
  t.server.setPodStatus(pod, podStatus.ended(137))
  t.server.drop('pods', pod)
  t.server.setPodStatus(next?.metadata.name ?? '', podStatus.ended(1, `c-${next?.metadata.uid}`))
  await until(async () => events.seen.length > count)
  const last = events.seen.slice(count)
  assert.deepEqual(
    last.map((event) => (event.type === 'exited' ? event.exitCode : event.type)),
    [1],
  )
  await events.stop()
})

test('a container that had not started when its node failed is lost too, and can be taken over', async () => {
  const t = await world({ accessMode: 'ReadWriteMany' })
  t.server.put('nodes', { metadata: { name: 'n1' }, status: { conditions: [silent] } })
  const { id } = await t.containers.create(await withHome(t))
  const starting = t.containers.start(id)
  await until(async () => t.podNames().length === 1)
  const [pod = ''] = t.podNames()
  t.server.setPodStatus(pod, podStatus.waiting('PodInitializing'))
  t.server.setPodStatus(pod, podStatus.waiting('ErrImagePull', 'no such host'))
  await assert.rejects(starting, hasFault('start_pending'))
  assert.equal((await t.containers.inspect(id))?.status, 'pending', 'it has had less than a minute')

  await t.clock.advance(300)
  const [listed] = await t.containers.list()
  assert.deepEqual([listed?.status, listed?.waiting?.canMove], ['lost', true])
  await assert.rejects(t.containers.start(id), hasFault('node_lost'))
  await assert.rejects(t.containers.remove(id), hasFault('node_lost'))
  await t.containers.stop(id, 5)
  assert.equal((await t.containers.inspect(id))?.status, 'lost', 'also after its deletion')

  const started = t.containers.start(id, { takesOver: true })
  await until(async () => t.podNames().length === 2)
  t.runPods()
  await started
  assert.equal((await t.containers.inspect(id))?.status, 'running')
  const next = t.server.objects('pods').find(({ metadata }) => metadata.name !== pod)
  assert.match(JSON.stringify(next?.spec), /initContainers/, 'its volumes may be empty')
})

test('a container waits for a node that responds, or that the platform may not see', async () => {
  const nodes = { responds: { ...silent, status: 'False' }, forbidden: silent, overloaded: silent }
  for (const [title, ready] of Object.entries(nodes)) {
    const t = await world()
    t.server.put('nodes', { metadata: { name: 'n1' }, status: { conditions: [ready] } })
    t.server.intercept(({ path }, response) => {
      if (title === 'responds' || !path.startsWith('/api/v1/nodes')) return false
      response.writeHead(title === 'forbidden' ? 403 : 500).end(JSON.stringify({ message: title }))
      return true
    })
    const { id } = await t.containers.create(specOf('image', 'stay'))
    const starting = t.containers.start(id)
    await until(async () => t.podNames().length === 1)
    t.server.setPodStatus(t.podNames()[0] ?? '', podStatus.waiting('ErrImagePull', 'no such host'))
    await assert.rejects(starting, hasFault('start_pending'))
    await t.clock.advance(300)
    assert.equal((await t.containers.inspect(id))?.status, 'pending', title)
  }
})

test('a container between two runs has not started until it runs again', async () => {
  const t = await world({}, 1)
  const { id, pod } = await t.running()
  t.server.setPodStatus(pod, {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'agent',
        state: {
          waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' },
        },
        lastState: { terminated: { exitCode: 1, containerID: 'c', finishedAt: '2026-01-05T08:30:05Z' } },
      },
    ],
  })
  assert.equal((await t.containers.inspect(id))?.status, 'stopped')
  await assert.rejects(t.containers.start(id), /back-off 5m0s/)
  t.server.setPodStatus(pod, podStatus.running('again'))
  await t.containers.start(id)
  assert.deepEqual(t.podNames(), [pod])
})

test('a new container waits if the one before it may still run', async () => {
  const t = await world()
  const spec = await withHome(t)
  const { id, pod } = await t.running(spec)
  t.server.drop('pods', pod)
  await t.containers.remove(id)

  const second = await t.running(spec)
  assert.equal(t.waitOf(second.pod), fenceSeconds)
  // Too short for the older one to notice.
  await t.stop(second.id, second.pod, podStatus.ended(0, 'c', '2026-01-05T08:30:05Z', '2026-01-05T08:30:01Z'))
  await t.containers.remove(second.id)
  const third = await t.running(spec)
  assert.equal(t.waitOf(third.pod), fenceSeconds)
  await t.stop(third.id, third.pod, podStatus.ended(0))
  await t.containers.remove(third.id)
  assert.equal(t.waitOf((await t.running(spec)).pod), 0)
})

test('a container that has never run gets corrected settings, one that runs keeps its pod', async () => {
  const t = await world({ nodeSelector: { role: 'agnts' } })
  const running = await t.running()
  const { id } = await t.containers.create(specOf('image', 'stay'))
  const starting = t.containers.start(id)
  await until(async () => t.podNames().length === 2)
  const wrong = t.podNames().find((name) => name !== running.pod) ?? ''
  t.server.setPodStatus(wrong, podStatus.unschedulable('0/3 nodes match.'), null)
  await assert.rejects(starting, hasFault('start_pending'))

  const corrected = t.open('one', { nodeSelector: { role: 'agents' } })
  await corrected.start(running.id)
  const started = corrected.start(id)
  await until(async () =>
    t.server.objects('pods').some((pod) => JSON.stringify(pod.spec).includes('"agents"')),
  )
  t.runPods()
  await started
  assert.ok(t.podNames().includes(running.pod))
  assert.equal(t.podNames().length, 2)
  await corrected.close()
})

test('names that Kubernetes does not accept become names that it accepts', async () => {
  const t = await world()
  const names = ['agent-my_agent', 'agent-my-agent', 'agent-ada-', 'agent-ada_']
  for (const name of names) {
    await t.containers.createVolume(`${name}-workspace`, {})
    await t.containers.createVolume(`${name}-workspace`, {})
    const mounts = [{ type: 'volume' as const, volume: `${name}-workspace`, target: '/home/developer' }]
    const { pod } = await t.running(specOf('image', 'stay', { name, mounts }))
    const { spec } = t.podNamed(pod) as unknown as {
      spec: { volumes: { persistentVolumeClaim?: { claimName: string } }[] }
    }
    const claim = spec.volumes.find(({ persistentVolumeClaim }) => persistentVolumeClaim)
    const claims = t.server.objects('persistentvolumeclaims').map(({ metadata }) => metadata.name)
    assert.ok(claims.includes(claim?.persistentVolumeClaim?.claimName ?? ''), name)
  }
  const objects = ['pods', 'secrets', 'persistentvolumeclaims'].flatMap((kind) => t.server.objects(kind))
  for (const { metadata } of objects) assert.match(metadata.name, /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
  const listed = await t.containers.list()
  assert.deepEqual(listed.map(({ name }) => name).toSorted(), names.toSorted())
  const volumes = names.map((name) => `${name}-workspace`)
  assert.deepEqual((await t.containers.listVolumes()).toSorted(), volumes.toSorted())
  await assert.rejects(t.containers.removeVolume('agent-ada_-workspace'), hasFault('volume_in_use'))
})

test('events tell of starts, ends, waits, lost nodes and their return', async () => {
  const t = await world()
  const events = collectEvents(t.containers)
  await events.resync()
  const { id, pod } = await t.running()
  const types = () => events.seen.slice(1).map((event) => ('status' in event ? event.status : event.type))
  await until(async () => types().length === 1)
  t.server.setPodStatus(pod, podStatus.lost(`c-${t.server.objects('pods')[0]?.metadata.uid}`))
  await until(async () => types().length === 2)
  t.server.setPodStatus(pod, podStatus.running(`c-${t.server.objects('pods')[0]?.metadata.uid}`))
  await until(async () => types().length === 3)
  t.server.drop('pods', pod)
  await until(async () => types().length === 4)
  await t.containers.remove(id)
  await until(async () => types().length === 5)
  assert.deepEqual(types(), ['started', 'lost', 'started', 'exited', 'removed'])
  const exited = events.seen.find((event) => event.type === 'exited')
  assert.equal(exited?.type === 'exited' && exited.exitCode, null, 'the result is unknown')
  await events.stop()
})

test('an end says whether the cluster evicted the container', async () => {
  const ends: Record<string, readonly [boolean, (t: World, pod: string, run: string) => void]> = {
    'it crashed': [false, (t, pod, run) => t.server.setPodStatus(pod, podStatus.ended(1, run))],
    'its pod was removed by force': [true, (t, pod) => t.server.drop('pods', pod)],
    'its node has no memory': [
      true,
      (t, pod) => t.server.setPodStatus(pod, { phase: 'Failed', reason: 'Evicted' }),
    ],
    // The messages of kubelets from 1.20 on.
    ...Object.fromEntries(
      [
        'Pod ephemeral local storage usage exceeds the total limit of containers 10Gi. ',
        'Container agent exceeded its local ephemeral storage limit "10Gi". ',
        'Usage of EmptyDir volume "tmp" exceeds the limit "64Mi". ',
      ].map((message) => [
        message,
        [
          false,
          (t: World, pod: string) =>
            t.server.setPodStatus(pod, { phase: 'Failed', reason: 'Evicted', message }),
        ] as const,
      ]),
    ),
    'its node has no disk': [
      true,
      (t, pod) =>
        t.server.setPodStatus(pod, {
          ...{ phase: 'Failed', reason: 'Evicted' },
          message:
            'The node was low on resource: ephemeral-storage. Container agent was using 9Gi, which exceeds its request of 0. ',
        }),
    ],
    'its node is drained': [
      true,
      (t, pod, run) => {
        const { metadata, ...rest } = t.podNamed(pod)
        const deletion = { deletionTimestamp: '2026-01-05T08:30:10Z', deletionGracePeriodSeconds: 10 }
        t.server.put('pods', { ...rest, metadata: { ...metadata, ...deletion } })
        t.server.setPodStatus(pod, podStatus.ended(0, run))
      },
    ],
  }
  for (const [title, [isEvicted, end]] of Object.entries(ends)) {
    const t = await world()
    const events = collectEvents(t.containers)
    await events.resync()
    const { pod } = await t.running()
    await until(async () => events.seen.length === 2)
    end(t, pod, `c-${t.podNamed(pod).metadata.uid}`)
    await until(async () => events.seen.length === 3)
    assert.partialDeepStrictEqual(events.seen[2], { type: 'exited', isEvicted }, title)
    await events.stop()
  }
})

test('exactly the protected containers have the label that a disruption budget selects', async () => {
  const t = await world()
  const [first, second] = [await t.running(), await t.running()]
  const neighbour = t.open('two')
  const labelled = () =>
    t.server
      .objects('pods')
      .flatMap(({ metadata }) => (metadata.labels?.['roost.busy'] ? [metadata.name] : []))
  const protect = (...ids: string[]) => t.containers.protect?.(new Set(ids))

  await protect(first.id, '00000000-unknown')
  assert.deepEqual(labelled(), [first.pod])
  await neighbour.protect?.(new Set([second.id]))
  assert.deepEqual(labelled(), [first.pod], 'a container of another installation')
  await protect(first.id, second.id)
  assert.deepEqual(labelled().toSorted(), [first.pod, second.pod].toSorted())

  t.server.requests.length = 0
  await protect(second.id, first.id)
  assert.deepEqual(requestsOf(t.server.requests), [], 'nothing changed')

  await t.stop(second.id, second.pod, podStatus.ended(0))
  const next = await t.startAgain(second.id)
  await t.clock.advance(60)
  await protect(first.id, second.id)
  assert.equal(t.podNamed(next).metadata.labels?.['roost.busy'], 'true', 'a new pod, after a minute')
  await protect()
  assert.deepEqual(labelled(), [second.pod], 'only the pod that has ended')
  await neighbour.close()
})

test('an expired version and a cut connection lead to resync; a regular end does not', async () => {
  const t = await world()
  const events = collectEvents(t.containers)
  await events.resync()
  t.server.endWatches({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } })
  await t.clock.advance(30)
  await until(async () => {
    await t.clock.advance(30)
    return events.seen.length === 2
  })
  t.server.cut()
  await until(async () => {
    await t.clock.advance(30)
    return events.seen.length === 3
  })
  await until(async () => t.server.watches() === 2)
  const { id } = await t.containers.create(specOf('image', 'stay'))
  await t.containers.remove(id)
  await until(async () => events.seen.length === 4)
  assert.deepEqual(
    events.seen.map(({ type }) => type),
    ['resync', 'resync', 'resync', 'removed'],
  )
  await events.stop()
})

test('an idle platform sends no requests while it follows events', async () => {
  const t = await world()
  const events = collectEvents(t.containers)
  await events.resync()
  t.server.requests.length = 0
  await t.clock.advance(3600)
  assert.deepEqual(t.server.requests, [])
  await events.stop()
})

test('shared folders need a class that several nodes can mount', async () => {
  const lone = await world()
  await lone.containers.createVolume('bob-shared', sharedLabels)
  const mounts: ContainerSpec['mounts'] = [
    { type: 'volume', volume: 'bob-shared', target: '/home/developer/in', readOnly: true },
  ]
  await assert.rejects(
    lone.containers.create(specOf('image', 'stay', { mounts })),
    /volume bob-shared cannot be shared.*ROOST_KUBERNETES_SHARED_STORAGE_CLASS/s,
  )
  assert.deepEqual(await lone.containers.list(), [])

  const many = await world({ sharedStorageClass: 'nfs', storageClass: 'fast' })
  await many.containers.createVolume('bob-shared', sharedLabels)
  await many.containers.createVolume('bob-home', {})
  await many.containers.create(specOf('image', 'stay', { mounts }))
  assert.deepEqual(
    many.server.objects('persistentvolumeclaims').map(({ spec }) => {
      const { storageClassName, accessModes } = spec as { storageClassName: string; accessModes: string[] }
      return [storageClassName, accessModes[0]]
    }),
    [
      ['nfs', 'ReadWriteMany'],
      ['fast', 'ReadWriteOnce'],
    ],
  )
})

test('foreign secrets, claims and pods are not touched', async () => {
  const t = await world()
  t.server.put('secrets', { metadata: { name: 'roost-suite' }, data: {} })
  t.server.put('persistentvolumeclaims', { metadata: { name: 'theirs' }, spec: {} })
  assert.deepEqual(await t.containers.list(), [])
  assert.deepEqual(await t.containers.listVolumes(), [])
  await t.containers.removeVolume('theirs')
  assert.equal(t.server.objects('persistentvolumeclaims').length, 1)
  await assert.rejects(t.containers.createVolume('theirs', {}), hasFault('name_taken'))
  await assert.rejects(
    t.containers.create({ ...specOf('image', 'stay'), name: 'suite' }),
    hasFault('name_taken'),
  )
  const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume: 'theirs', target: '/home/developer' }]
  await assert.rejects(t.containers.create(specOf('image', 'stay', { mounts })), hasFault('name_taken'))
})

test('the platform learns of nodes and runtimes if it may, and works without that right', async () => {
  const t = await world()
  t.server.put('nodes', {
    metadata: { name: 'n1' },
    status: { allocatable: { cpu: '3500m', memory: '8Gi' } },
  })
  t.server.put('nodes', { metadata: { name: 'n2' }, status: { allocatable: { cpu: '2', memory: '16Gi' } } })
  t.server.put('runtimeclasses', { metadata: { name: 'gvisor' }, handler: 'runsc' })
  assert.deepEqual(await t.containers.ping(), {
    ...{ id: 'uid-of-agents', name: 'Kubernetes', version: 'v1.30.0' },
    ...{ cpus: 3.5, memoryBytes: 16 * 1024 ** 3 },
  })
  assert.deepEqual(t.containers.runtimes, { listed: ['gvisor'], default: null })
  await t.containers.create(specOf('image', 'stay', { runtime: 'gvisor' }))

  const bare = await world()
  bare.server.intercept(({ path }, response) => {
    if (!/nodes|runtimeclasses/.test(path)) return false
    response.writeHead(403).end(JSON.stringify({ message: 'forbidden' }))
    return true
  })
  assert.ok((await bare.containers.ping()).cpus >= 1)
  assert.deepEqual(bare.containers.runtimes, { listed: [], default: null })
})

/** Collects events; the wait of the first resync is the only one that a test needs. */
function collectEvents(containers: Containers) {
  const controller = new AbortController()
  const seen: ContainerEvent[] = []
  const ended = (async () => {
    for await (const event of containers.events(controller.signal)) seen.push(event)
  })()
  return {
    seen,
    resync: () => until(async () => seen.length > 0),
    async stop() {
      controller.abort()
      await ended
    },
  }
}

test('with node ports a container has a Service for SSH while it exists; closed ones have none', async () => {
  const t = await world({ sshNodePorts: true, probeImage: null })
  const ssh = { bind: '127.0.0.1', port: 30_022 }
  const { id } = await t.containers.create(specOf('image', 'stay', { ssh }))
  const [service] = t.server.objects('services')
  assert.deepEqual(service?.spec, {
    type: 'NodePort',
    selector: { 'roost.id': id },
    ports: [{ name: 'ssh', port: 22, targetPort: 22, nodePort: ssh.port }],
  })
  await t.containers.create(specOf('image', 'stay'))
  assert.equal(t.server.objects('services').length, 1)
  await t.containers.remove(id)
  assert.deepEqual(t.server.objects('services'), [])

  const off = await world()
  await off.containers.create(specOf('image', 'stay', { ssh }))
  assert.deepEqual(off.server.objects('services'), [])
  assert.deepEqual([t.containers.publishesSsh, off.containers.publishesSsh], [true, false])
})

test('a node port in use or outside of the range refuses the container, and leaves nothing', async () => {
  const t = await world({ sshNodePorts: true })
  const reasons = {
    port_taken: 'spec.ports[0].nodePort: Invalid value: 30022: provided port is already allocated',
    engine_fault:
      'spec.ports[0].nodePort: Invalid value: 22: provided port is not in the valid range. The range of valid ports is 30000-32767',
  }
  for (const [fault, message] of Object.entries(reasons)) {
    t.server.intercept(({ method, path }, response) => {
      if (method !== 'POST' || !path.endsWith('/services')) return false
      response.writeHead(422, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code: 422, reason: 'Invalid', message }))
      return true
    })
    const created = t.containers.create(specOf('image', 'stay', { ssh: { bind: '', port: 30_022 } }))
    await assert.rejects(created, hasFault(fault as 'port_taken'))
    assert.deepEqual(t.server.objects('secrets'), [])
  }
})
