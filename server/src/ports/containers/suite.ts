import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { ContainerError, type ContainerEvent, type ContainerSpec, type Containers } from './port.ts'

/** The adapter under test and control over its engine. */
export type Harness = {
  containers: Containers
  /** Another installation on the same engine. */
  neighbour: Containers
  /** An adapter whose engine does not answer. */
  away: Containers
  /** An image that runs `ROOST_TEST_SCRIPT`, or simulates `ROOST_TEST_BEHAVIOUR` in the fake. */
  image: string
  /** A missing host path. */
  missingPath: string
  /** True when the adapter can recognize out-of-memory kills on this host. */
  tellsMemoryKills: boolean
  /** Kills the container's first process behind the engine's back. */
  crash(id: string): Promise<void>
  /** Breaks the event stream of listeners; the engine keeps running. */
  interruptEvents(): Promise<void>
  close(): Promise<void>
}

/** What the suite's containers do: a shell script, or its name for the fake. */
export const behaviours = {
  stay: 'trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  stubborn: 'trap "" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  talk: 'for i in 1 2 3 4 5; do echo "line $i"; done; trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  fail: 'echo "cannot go on"; exit 3',
  // Runs for a moment first: Docker watches for out-of-memory kills only after the start.
  devour: 'echo eating; sleep 1; x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done',
  publish:
    'echo published > /home/developer/shared-out/note; trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  // Shows what it can read and change in another agent's folder and next to it.
  consume: [
    'cd /home/developer/shared-in; for name in *; do echo "saw $name"; done',
    'cat one/note 2>/dev/null || echo nothing',
    '(echo x > one/note) 2>/dev/null && echo overwritten',
    '(echo x > one/mine) 2>/dev/null && echo written',
    'rm one/note </dev/null 2>/dev/null && echo removed',
    '(echo x > mine) 2>/dev/null && echo made beside',
    'rmdir one 2>/dev/null && echo unmade',
    'trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  ].join('; '),
  remember:
    'cat /home/developer/note 2>/dev/null || echo empty; echo kept > /home/developer/note; trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
}
export type Behaviour = keyof typeof behaviours

/** A container of the suite; every test uses its own name. */
export function specOf(
  image: string,
  behaviour: Behaviour,
  more: Partial<ContainerSpec> = {},
): ContainerSpec {
  return {
    name: uniqueName(),
    image,
    labels: { 'roost.platform': 'agent' },
    cpus: 1,
    memoryBytes: 256 * 1024 * 1024,
    maxProcesses: 256,
    tmpBytes: 16 * 1024 * 1024,
    fullCapabilities: false,
    mounts: [],
    ssh: null,
    ...more,
    env: { ROOST_TEST_BEHAVIOUR: behaviour, ROOST_TEST_SCRIPT: behaviours[behaviour], ...more.env },
  }
}

/** Generous, for a real engine on a busy machine. */
const timeoutMs = 60_000

export function uniqueName(): string {
  return `suite-${randomBytes(6).toString('hex')}`
}

/** Collects events from now on; `next` returns the first matching one since the last call. */
export function collect(containers: Containers) {
  const controller = new AbortController()
  const collected: ContainerEvent[] = []
  let at = 0
  let wake = () => {}
  const ended = (async () => {
    for await (const event of containers.events(controller.signal)) {
      collected.push(event)
      wake()
    }
  })()
  return {
    seen: collected,
    async next<T extends ContainerEvent['type']>(
      type: T,
      id?: string,
    ): Promise<Extract<ContainerEvent, { type: T }>> {
      const deadline = AbortSignal.timeout(timeoutMs)
      for (;;) {
        for (; at < collected.length; at += 1) {
          const event = collected[at]
          if (event?.type === type && (id === undefined || ('id' in event && event.id === id))) {
            at += 1
            // The type was compared one line above; the compiler cannot derive it.
            return event as Extract<ContainerEvent, { type: T }>
          }
        }
        await new Promise<void>((resolve, reject) => {
          wake = resolve
          deadline.addEventListener('abort', () =>
            reject(new Error(`no event ${type} came; seen: ${JSON.stringify(collected)}`)),
          )
        })
      }
    },
    async stop() {
      controller.abort()
      await ended
    },
  }
}

/** Repeats the check until it is true, for at most a minute. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`never became true: ${check}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export function hasFault(fault: ContainerError['fault']) {
  return (error: unknown) => error instanceof ContainerError && error.fault === fault
}

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
        for (const name of await adapter.listVolumes()) await adapter.removeVolume(name)
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

    test("the engine reports its identity and the host's resources", async () => {
      const info = await containers.ping()
      assert.ok(info.name.length > 0 && info.version.length > 0)
      assert.ok(info.cpus >= 1 && info.memoryBytes > 0)
    })

    test('an unreachable engine is engine_down, quickly', { timeout: timeoutMs }, async () => {
      await assert.rejects(harness.away.ping(), hasFault('engine_down'))
      await assert.rejects(harness.away.create(spec('stay')), hasFault('engine_down'))
    })

    test('an image is known or unknown', async () => {
      assert.equal(await containers.hasImage(harness.image), true)
      assert.equal(await containers.hasImage('roost-test-nowhere:0'), false)
    })

    test('the network can be created repeatedly and concurrently', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => containers.ensureNetwork()))
      for (const answer of answers) assert.deepEqual(answer, answers[0])
    })

    test('a closed network can be created, and a container in it', async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => containers.ensureClosedNetwork()))
      for (const answer of answers) assert.deepEqual(answer, answers[0])
      assert.ok(containers.closing.can)
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

    test('a missing image is refused as image_missing', async () => {
      await assert.rejects(
        containers.create({ ...spec('stay'), image: 'roost-test-nowhere:0' }),
        hasFault('image_missing'),
      )
      assert.deepEqual(await containers.list(), [])
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
      await assert.rejects(containers.rename(id, uniqueName()), hasFault('no_such_container'))
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
      await containers.createVolume(shared, {})
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
      await until(async () => (await linesOf(reader)).length === 6)
      assert.deepEqual((await linesOf(reader)).slice(3), ['saw one', 'published', 'ready'])
      await containers.remove(reader)
      assert.deepEqual(await linesOf(await running('consume', { mounts })), ['saw *', 'nothing', 'ready'])
      await containers.remove(publisher)
    })

    test('a volume mounted by a container is in use, even while the container is stopped', async () => {
      const volume = `${uniqueName()}-shared`
      await containers.createVolume(volume, {})
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

    test('a rename keeps the container running under its id and frees the old name', async () => {
      const desired = spec('stay')
      const { id } = await containers.create(desired)
      await containers.start(id)
      const name = uniqueName()
      await containers.rename(id, name)
      const state = await containers.inspect(id)
      assert.equal(state?.name, name)
      assert.equal(state?.status, 'running')
      const { id: second } = await containers.create(desired)
      await assert.rejects(containers.rename(second, name), hasFault('name_taken'))
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
      assert.ok(first?.cpuPercent === null || (first?.cpuPercent ?? -1) >= 0)
      assert.ok(first && first.memoryUsedBytes > 0)
      assert.equal(first.memoryLimitBytes, desired.memoryBytes)
      await until(async () => ((await containers.sample(id))?.cpuPercent ?? -1) >= 0)
      await containers.stop(id, 10)
      assert.equal(await containers.sample(id), null)
    })

    test('events start with resync and report start, end and removal in order', async () => {
      const events = collect(containers)
      try {
        await events.next('resync')
        const desired = spec('stay')
        const { id } = await containers.create(desired)
        await containers.start(id)
        assert.equal((await events.next('started', id)).name, desired.name)
        await isReady(id)
        await containers.stop(id, 10)
        const exited = await events.next('exited', id)
        assert.equal(exited.exitCode, 0)
        assert.equal(exited.oomKilled, false)
        await containers.remove(id)
        assert.equal((await events.next('removed', id)).name, desired.name)
      } finally {
        await events.stop()
      }
    })

    test('events of another installation are not reported', async () => {
      const events = collect(harness.neighbour)
      try {
        await events.next('resync')
        const own = await running('stay')
        await containers.stop(own, 10)
        const { id: theirs } = await harness.neighbour.create(spec('stay'))
        await harness.neighbour.start(theirs)
        await events.next('started', theirs)
        assert.ok(events.seen.every((event) => event.type === 'resync' || event.id === theirs))
      } finally {
        await events.stop()
      }
    })

    test('an unexpected end is reported with its code, and the container restarts', async () => {
      const events = collect(containers)
      try {
        await events.next('resync')
        const { id } = await containers.create(spec('fail'))
        await containers.start(id)
        await events.next('started', id)
        const exited = await events.next('exited', id)
        assert.equal(exited.exitCode, 3)
        assert.equal(exited.oomKilled, false)
        await events.next('started', id)
        await events.next('exited', id)
        await containers.stop(id, 1)
        const state = await containers.inspect(id)
        assert.equal(state?.status, 'stopped')
        assert.match(await containers.logs(id, 100), /cannot go on\n(.*\n)*cannot go on/)
      } finally {
        await events.stop()
      }
    })

    test('a crash is reported and the container restarts; a later stop is final', async () => {
      const id = await running('stay')
      const events = collect(containers)
      try {
        await events.next('resync')
        await harness.crash(id)
        const exited = await events.next('exited', id)
        assert.equal(exited.exitCode, 137)
        assert.equal(exited.oomKilled, false)
        await events.next('started', id)
        await containers.stop(id, 1)
        await events.next('exited', id)
        assert.equal((await containers.inspect(id))?.status, 'stopped')
      } finally {
        await events.stop()
      }
    })

    test('the memory limit kills, and the end is marked as oomKilled', async (context) => {
      if (!harness.tellsMemoryKills) return context.skip('this user has no control groups here')
      const events = collect(containers)
      try {
        await events.next('resync')
        const { id } = await containers.create(spec('devour', { memoryBytes: 32 * 1024 * 1024 }))
        await containers.start(id)
        const exited = await events.next('exited', id)
        assert.equal(exited.exitCode, 137)
        assert.equal(exited.oomKilled, true)
        // It restarts and is killed repeatedly; between two runs the state shows why.
        await until(async () => (await containers.inspect(id))?.oomKilled === true)
        await containers.stop(id, 0)
      } finally {
        await events.stop()
      }
    })

    test('a broken event stream resumes with resync', async () => {
      const events = collect(containers)
      try {
        await events.next('resync')
        await harness.interruptEvents()
        await events.next('resync')
        const { id } = await containers.create(spec('stay'))
        await containers.start(id)
        await events.next('started', id)
      } finally {
        await events.stop()
      }
    })

    test('listening to an unreachable engine waits without an error until aborted', async () => {
      const events = collect(harness.away)
      await new Promise((resolve) => setImmediate(resolve))
      await events.stop()
      assert.deepEqual(events.seen, [])
    })

    test('an impossible spec leaves nothing behind', async () => {
      const desired = spec('stay', {
        mounts: [{ type: 'bind', source: harness.missingPath, target: '/template', readOnly: true }],
      })
      await assert.rejects(containers.create(desired), hasFault('engine_fault'))
      assert.deepEqual(await containers.list(), [])
    })
  })
}
