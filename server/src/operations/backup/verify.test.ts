import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { openVault } from '../../foundation/vault/index.ts'
import { secret } from '../../kit/secret.ts'
import { createFakeEngine } from '../../ports/containers/fake.ts'
import { openDatabaseCopies } from '../../ports/database-copies/open.ts'
import { createScratchDatabase } from '../../ports/database-copies/scratch.ts'
import type { VolumeJobs } from '../../ports/volume-jobs/port.ts'
import { createSandboxJobs } from '../../ports/volume-jobs/sandbox.ts'
import { openHistoryCopies } from '../../ports/workspace-history/copies.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { ageSource, backUpToFile, verify } from './index.ts'

const path = process.env.PATH ?? ''
const phrase = 'a passphrase of tests'
const volume = 'agent-one-abc-workspace'

test('a verification counts the differences of very many files', async () => {
  await using db = await openTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'roost-verify-test-'))
  try {
    const clock = createTestClock()
    const dataDir = join(folder, 'data')
    for (const name of ['data', volume, 'roost-verify-1']) await mkdir(join(folder, name))
    openVault({ encryptionKey: null, dataDir })
    const containers = createFakeEngine({ clock }).containers('test')
    await containers.createVolume(volume, {})
    const real = createSandboxJobs({
      ...{ folder: join(folder, 'jobs'), path, volumeFolder: (name) => join(folder, name) },
    })
    await real.prepare(() => {})
    const jobs: VolumeJobs = {
      ...real,
      async run(job) {
        if (!job.script.includes('--compare')) return real.run(job)
        const lines = Array.from({ length: 200_000 }, (_, at) => `file ${at}: Size differs\n`)
        const output = job.output ?? assert.fail('no output')
        Readable.from(lines).pipe(output)
        await once(output, 'finish')
        return { code: 1, errors: [] }
      },
    }
    const copies = openDatabaseCopies(db.url, { path })
    const installation = { key: { encryptionKey: null, dataDir }, copies, containers, jobs }
    const to = join(folder, 'backup.age')
    await backUpToFile(
      {
        ...{
          ...installation,
          clock,
          version: '1.0.0',
          dotenv: join(folder, '.env'),
          passphrase: secret(phrase),
        },
        ...{ history: openHistoryCopies({ folder: join(dataDir, 'history'), path }), agents: async () => [] },
      },
      { to, mayReplace: false },
    )
    const verifying = verify({
      ...{ ...installation, clock, dataDir, passphrase: secret(phrase) },
      source: ageSource(jobs, { from: to, passphrase: phrase }),
      async scratch(scratchFolder) {
        const { url, drop } = await createScratchDatabase(db.url, { folder: scratchFolder, path })
        return { copies: openDatabaseCopies(url, { path }), check: async () => ['no owner'], drop }
      },
    })
    await assert.rejects(
      verifying,
      /in 200001 places\. First: file 0: Size differs; file 1: Size differs; file 2: Size differs$/,
    )
  } finally {
    await rm(folder, { recursive: true })
  }
})
