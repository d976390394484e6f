import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { pack } from 'tar-stream'
import type { JobResult, VolumeJob } from '../../ports/volume-jobs/port.ts'
import { addressProblem, openRepository } from './index.ts'
import { findOddities, patternOf } from './oddities.ts'

const none = { s3: null, sftp: null }

/** Answers a scan with these records. */
const scanned = (records: string[]) =>
  findOddities(
    {
      problem: async () => null,
      prepare: async () => {},
      async run({ output }) {
        if (output)
          await pipeline(Readable.from([Buffer.from(records.map((each) => `${each}\0`).join(''))]), output)
        return { code: 0, errors: [] }
      },
    },
    [],
  )

test('holes and further names of large files are left out, each volume by its own limits', async () => {
  const gib = 1024 ** 3
  const { skipped, excluded } = await scanned([
    `f 1:1 1 ${2 * gib} ${(2 * gib) / 512} roost/volumes/a/full`,
    `f 1:2 1 ${2 * gib} 0 roost/volumes/a/hole`,
    `f 1:3 3 ${gib} ${gib / 512} roost/volumes/a/first`,
    `f 1:3 3 ${gib} ${gib / 512} roost/volumes/a/second`,
    `f 1:3 3 ${gib} ${gib / 512} roost/volumes/a/third`,
    `f 1:4 1 ${gib / 2} 0 roost/volumes/b/small hole`,
    's 1:5 1 0 0 roost/volumes/b/socket',
  ])
  assert.deepEqual(skipped, [
    { path: 'a/hole', reason: 'sparse' },
    { path: 'a/third', reason: 'hard_links' },
  ])
  assert.equal(excluded, '/roost/volumes/a/hole\n/roost/volumes/a/third\n/roost/volumes/b/socket\n')
})

test('an agent with thousands of pipes loses its own volume only', async () => {
  const pipes = Array.from({ length: 5000 }, (_, at) => `p 1:${at} 1 0 0 roost/volumes/a/${at}`)
  const { skipped, excluded } = await scanned([...pipes, 'p 1:9999 1 0 0 roost/volumes/b/p'])
  assert.deepEqual(skipped, [{ path: 'a', reason: 'too_many' }])
  assert.equal(excluded, '/roost/volumes/a/*\n/roost/volumes/b/p\n')
})

test('a name cannot add a line or a pattern to the list of excluded files', () => {
  assert.equal(patternOf('roost/volumes/a/x\n/roost/volumes/b'), '/roost/volumes/a/x*/roost/volumes/b')
  assert.equal(patternOf('roost/volumes/a/$HOME [1]?'), '/roost/volumes/a/*HOME *1*')
  assert.equal(patternOf('roost/volumes/a/* '), '/roost/volumes/a/*')
  assert.equal(patternOf('roost/volumes/a/agent.1:0 x'), '/roost/volumes/a/agent.1:0 x')
})

test('addresses of repositories are one of three forms and add no option to a command', () => {
  for (const address of [
    '/mnt/a b',
    's3:https://s3.example:9000/bucket/a',
    'sftp:me@host:/srv/a',
    'sftp:host:a',
  ])
    assert.equal(addressProblem(address), null, address)
  for (const address of [
    '',
    'folder',
    's3:bucket',
    "sftp:a'b@host:/x",
    'sftp:-oProxyCommand=x:/x',
    '/a\nb',
    'rest:https://a/',
  ])
    assert.notEqual(addressProblem(address), null, address)
  const jobs = {
    problem: async () => null,
    prepare: async () => {},
    run: async () => ({ code: 0, errors: [] }),
  }
  const options = { passphrase: 'x', credentials: none, cacheFolder: '/tmp/x' }
  assert.throws(() => openRepository(jobs, { ...options, address: 'sftp:host:a' }), /needs an SSH key/)
  assert.throws(() => openRepository(jobs, { ...options, address: '/a' }).source('x; rm'), /must be an id/)
})

test('an archive that a damaged repository ends too early is reported with the reason of restic', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-repository-'))
  const archive = pack()
  archive.entry({ name: 'roost/platform/manifest.json' }, 'x'.repeat(1000))
  archive.finalize()
  const whole = await buffer(archive)
  const run = async ({ output }: VolumeJob): Promise<JobResult> => {
    if (!output) return { code: 0, errors: [] }
    output.end(whole.subarray(0, 700))
    await once(output, 'close')
    return { code: 1, errors: ['Fatal: ciphertext verification failed'] }
  }
  try {
    const jobs = { problem: async () => null, prepare: async () => {}, run }
    const options = {
      passphrase: 'x',
      credentials: none,
      cacheFolder: join(folder, 'cache'),
      address: folder,
    }
    const source = openRepository(jobs, options).source('latest')
    await assert.rejects(source.readPlatform(folder, { withHistory: false }), /is damaged: ciphertext/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
