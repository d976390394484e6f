import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { volumesOf } from '../../agents/lifecycle/index.ts'
import { openAgents } from '../../agents/test/world.ts'
import { aborted } from '../../kit/clock.ts'
import type { VolumeJob } from '../../ports/volume-jobs/port.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { measure } from './archive.ts'
import { type FullManifest, parts } from './content.ts'
import { restoreAgent } from './one-agent.ts'
import { noDifferences } from './repository.ts'
import type { BackupSource } from './source.ts'

forEachDialect((_dialect, open) => {
  test('an agent that somebody started while the backup was read is not overwritten', async () => {
    await using t = await openWorld(open)
    const restoring = t.restore({
      extract: async () => assert.equal((await t.call('start')).status, 200),
      copy: async () => assert.fail('copied into a running agent'),
    })
    await assert.rejects(restoring, /The agent scout.* is running\. Stop it first/)
    assert.deepEqual((await t.world.containers.listVolumes()).toSorted(), t.volumes)
  })

  test('an agent in the pause of a restart loop is not overwritten', async () => {
    await using t = await openWorld(open)
    const start = async () => assert.equal((await t.call('start')).status, 200)
    const copy = async () => assert.fail('copied into an agent that restarts')
    const refusal = /scout is not running now.*Stop the agent first/
    await assert.rejects(t.restore({ extract: start, copy, isCrashing: true }), refusal)
    const extract = async () => assert.fail('read the backup')
    await assert.rejects(t.restore({ extract, copy, isCrashing: true }), refusal)
  })

  test('a restore whose lock is lost stops and asks to be repeated', async () => {
    await using t = await openWorld(open)
    const { clock } = t.world
    const restoring = t.restore({
      async copy({ signal }) {
        await clock.waitingFor(10)
        clock.set(new Date(clock.now().getTime() + 31_000))
        await clock.advance(0)
        assert.ok(signal)
        await aborted(signal)
        assert.equal((await t.call('start')).status, 200)
        signal.throwIfAborted()
      },
    })
    await assert.rejects(
      restoring,
      /scout are incomplete: the restore was interrupted.*lost its lock.*Repeat/,
    )
    await t.call('stop')
    await t.restore({ copy: async () => {} })
  })

  test('a restore that the user interrupts asks to be repeated', async () => {
    await using t = await openWorld(open)
    const stop = new AbortController()
    const restoring = t.restore({
      signal: stop.signal,
      async copy({ signal }) {
        stop.abort()
        signal?.throwIfAborted()
      },
    })
    await assert.rejects(restoring, /scout are incomplete: the restore was interrupted\. Repeat/)
  })

  test('a start waits until the files are copied', async () => {
    await using t = await openWorld(open)
    let starting: ReturnType<typeof t.call> | undefined
    await t.restore({
      copy: async () => {
        starting = t.call('start')
        // Until the lock is tried again.
        await t.world.clock.waitingFor(0.1)
        assert.equal(await t.status(), 'stopped')
      },
    })
    await t.world.clock.advance(0.1)
    assert.equal((await starting)?.status, 200)
    assert.equal(await t.status(), 'running')
  })
})

type Restore = {
  extract?(): Promise<void>
  copy(job: VolumeJob): Promise<void>
  /** The container crashes before each look at it, and the engine starts it again. */
  isCrashing?: boolean
  signal?: AbortSignal
}

/** The stopped agent scout, and a backup of its volumes. */
async function openWorld(open: OpenTestDb) {
  const world = await openAgents(await open())
  const folder = await mkdtemp(join(tmpdir(), 'roost-one-agent-'))
  const { db, clock, containers } = world
  const owner = await world.person()
  const call = (action: 'start' | 'stop') => world.request(owner.key, 'POST', `/api/agents/scout/${action}`)
  assert.equal((await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })).status, 200)
  assert.equal((await call('stop')).status, 200)
  const into = await world.row('scout')
  const volumes = Object.values(volumesOf(into)).toSorted()
  const container = async () => (await world.row('scout')).container_id ?? ''

  async function readPlatform(to: string): Promise<void> {
    await writeFile(join(to, parts.database), 'rows')
    const manifest: FullManifest = {
      ...{ format: 2, roost_version: '1.0.0', created_at: '2030-01-01T00:00:00.000Z', dialect: db.dialect },
      ...{ install_id: 'test', database: await measure(join(to, parts.database)), environment: null },
      encryption_key: { kdf: 'scrypt', cost: 1, salt: '', sealed: '' },
      ...{ rows: {}, agents: [into].map(({ name, volume_base }) => ({ name, volume_base })), volumes },
      skipped: [],
    }
    await writeFile(join(to, parts.manifest), JSON.stringify(manifest))
  }

  return {
    ...{ world, volumes, call },
    status: async () => (await containers.inspect(await container()))?.status,
    restore({ extract = async () => {}, copy, isCrashing = false, signal }: Restore) {
      const list = async () => {
        if (isCrashing) world.engine.crash(await container())
        return containers.list()
      }
      const source: BackupSource = {
        ...{ name: 'backup', readPlatform, extract },
        ...{ check: async () => {}, compare: async () => noDifferences, read: async () => {} },
      }
      const jobs = {
        problem: async () => null,
        prepare: async () => {},
        run: async (job: VolumeJob) => {
          await copy(job)
          return { code: 0, errors: [] }
        },
      }
      const engine = { containers: { ...containers, list }, jobs }
      const common = { ...engine, db, clock, source, dataDir: folder, ...(signal && { signal }) }
      return restoreAgent({ ...common, agent: 'scout', into, mustMerge: false })
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    },
  }
}
