import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import type { JobResult } from '../../ports/volume-jobs/port.ts'
import { createSandboxJobs } from '../../ports/volume-jobs/sandbox.ts'
import { differenceLines, openRepository, textLines } from './repository.ts'
import { openRestic } from './target.ts'

test('a live lock of another machine survives a backup and refuses to remove snapshots', async () => {
  await using world = await openWorld()
  await world.first.open(true)
  const other = await world.lock()
  await world.second.open(false)
  await world.second.add(world.stage, [])
  assert.equal((await world.locks()).length, 1)
  await assert.rejects(world.second.prune({ daily: 1, weekly: 0, monthly: 0 }), /is locked: another machine/)
  assert.equal((await world.locks()).length, 1)
  assert.equal((await other.end()).code, 0)
  await world.second.prune({ daily: 1, weekly: 0, monthly: 0 })
  assert.equal((await world.second.list()).length, 1)
})

test('while another machine has the repository for itself, a backup says that it is locked', async () => {
  await using world = await openWorld()
  await world.first.open(true)
  await world.lockExclusively()
  await world.second.open(false)
  await assert.rejects(world.second.add(world.stage, []), /is locked: .* Try again later/)
})

test('a backup asks restic for no status lines', async () => {
  await using world = await openWorld()
  await world.first.open(true)
  await world.first.add(world.stage, [])
  assert.match(world.output(), /^\{"message_type":"summary"[^\n]*\n$/)
})

test('of a long text the last lines remain', async () => {
  const line = `${'ä'.repeat(1023)}\n`
  const pieces = ['first\n', ...Array(20 * 1024).fill(line), 'last']
  const long = textLines()
  await pipeline(Readable.from(inPieces(pieces)), long.stream)
  const kept = long.all()
  assert.equal(kept.at(-1), 'last')
  assert.equal(kept.at(-2), line.trimEnd(), 'a character in two pieces is read as one')
  assert.ok(kept.length >= 8 * 1024 && kept.length <= 17 * 1024, `${kept.length} lines`)
})

test('all differences are counted, and the first are listed', async () => {
  const lines = differenceLines((line) => !line.startsWith('other'))
  const pieces = Array.from({ length: 200_000 }, (_, at) => `file ${at}: Size differs\nother\n`)
  await pipeline(Readable.from(inPieces(pieces)), lines.stream)
  const listed = [0, 1, 2].map((at) => `file ${at}: Size differs`)
  assert.deepEqual(lines.found, { count: 200_000, listed })
})

/** Cuts the text at bytes that are no borders of characters. */
function* inPieces(text: Iterable<string>): Generator<Buffer> {
  for (const part of text) {
    const bytes = Buffer.from(part)
    yield bytes.subarray(0, 3)
    yield bytes.subarray(3)
  }
}

/** Two machines with one repository. */
async function openWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'roost-repository-'))
  const stage = join(folder, 'stage')
  await mkdir(stage)
  await writeFile(join(stage, 'excluded'), '')
  await writeFile(join(stage, 'database'), randomBytes(1024 ** 2))
  const options = {
    ...{ address: join(folder, 'repository'), passphrase: 'a passphrase of tests' },
    ...{ credentials: { s3: null, sftp: null }, cacheFolder: join(folder, 'cache') },
  }
  const printed: Buffer[] = []
  const machine = async (name: string) => {
    const volumeFolder = (volume: string) => join(folder, volume)
    const jobs = createSandboxJobs({ folder: join(folder, name), volumeFolder, path: process.env.PATH ?? '' })
    await jobs.prepare(() => {})
    const run: typeof jobs.run = (job) => {
      const output = new PassThrough().on('data', (piece: Buffer) => printed.push(piece))
      if (job.output) output.pipe(job.output)
      return jobs.run({ ...job, output })
    }
    return { ...jobs, run }
  }
  const [one, two] = [await machine('one'), await machine('two')]
  const restic = openRestic(one, options)
  const ending = new AbortController()
  const running: Promise<JobResult>[] = []
  /** Runs restic until its input ends, as a process number that a short job does not reach. Resolves once it has a lock. */
  const locked = async (command: string) => {
    const script = `for number in $(seq 100); do /bin/true; done
exec 3<&0
cat <&3 | ${command} >&2 & restic=$!
until restic list locks --no-lock --quiet | grep -q .; do kill -0 $restic; done
echo locked
wait $restic`
    const [input, output] = [new PassThrough(), new PassThrough()]
    const run = restic.run({ script, input, output, signal: ending.signal })
    run.catch(() => {})
    running.push(run)
    await once(output, 'data')
    return {
      end() {
        input.end('content')
        return run
      },
    }
  }
  return {
    stage,
    first: openRepository(one, options),
    second: openRepository(two, options),
    lock: () => locked('restic backup --quiet --host another --stdin'),
    /** restic reads the new passphrase from the input after it has the lock. */
    lockExclusively: () => locked('restic key passwd --new-password-file /dev/stdin'),
    async locks() {
      const lines = textLines()
      await restic.run({ script: 'restic list locks --no-lock --quiet', output: lines.stream })
      return lines.all()
    },
    output: () => Buffer.concat(printed).toString(),
    async [Symbol.asyncDispose]() {
      ending.abort()
      await Promise.allSettled(running)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
