import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLock, volumesOf } from '../../agents/lifecycle/index.ts'
import { openAgents } from '../../agents/test/world.ts'
import { createLeases } from '../../foundation/leases/index.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { measure } from './archive.ts'
import { type FullManifest, parts } from './content.ts'
import { restoreAgent } from './one-agent.ts'
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
  // As in a process of its own.
  const { run } = createLock({ leases: createLeases({ db, clock }), clock })

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
    status: async () => (await containers.inspect((await world.row('scout')).container_id ?? ''))?.status,
    restore({ extract = async () => {}, copy }: { extract?(): Promise<void>; copy(): Promise<void> }) {
      const source: BackupSource = {
        ...{ name: 'backup', readPlatform, extract },
        ...{ check: async () => {}, compare: async () => [], read: async () => {} },
      }
      const jobs = {
        problem: async () => null,
        prepare: async () => {},
        run: async () => {
          await copy()
          return { code: 0, errors: [] }
        },
      }
      const lock = <T>(work: () => Promise<T>) => run(into.id, work)
      const common = { containers, jobs, source, dataDir: folder, lock }
      return restoreAgent({ ...common, agent: 'scout', into, mustMerge: false })
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    },
  }
}
