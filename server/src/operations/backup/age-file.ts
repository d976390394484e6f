import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { PassThrough, Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Decrypter, Encrypter } from 'age-encryption'
import { extract } from 'tar-stream'
import type { JobMount, VolumeJobs } from '../../ports/volume-jobs/port.ts'
import { BackupError } from './archive.ts'
import { packStage, unpackStage } from './content.ts'
import { differenceLines, noDifferences } from './repository.ts'
import type { BackupSource, Volumes } from './source.ts'

const chunkBytes = 256 * 1024
/** As a power of two; the same cost as that of the sealed encryption key. */
const scryptWorkFactor = 16

/** Writes the content as one file in the age format. `draft` must not exist. Throws `BackupError`. */
export async function writeAgeFile(
  jobs: VolumeJobs,
  {
    stage,
    draft,
    mounts,
    passphrase,
  }: { stage: string; draft: string; mounts: readonly JobMount[]; passphrase: string },
  signal?: AbortSignal,
): Promise<{ bytes: number }> {
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(scryptWorkFactor)
  const plain = new PassThrough({ highWaterMark: chunkBytes })
  const sealed = await encrypter.encrypt(webOf(plain))
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  const writing = pipeline(nodeOf(sealed), file)
  writing.catch((error: Error) => plain.destroy(error))
  const script = `set -e
tar -x -f - -C /roost --no-same-owner
sed s,^/,, /roost/platform/excluded > /tmp/excluded
exec tar -c -f - -C / --format=posix --pax-option=delete=atime,delete=ctime --sparse --numeric-owner \\
  --anchored --wildcards --no-wildcards-match-slash --exclude-from=/tmp/excluded roost/platform roost/volumes`
  const result = await jobs
    .run({ script, env: {}, mounts, hasNetwork: false, input: packStage(stage), output: plain, signal })
    .catch(async (error: Error) => {
      plain.destroy(error)
      await writing.catch(() => {})
      throw error
    })
  await writing
  // 1: a file changed or disappeared while it was read.
  if (result.code > 1)
    throw new BackupError(
      `The workspaces cannot be read: ${result.errors.at(-1) ?? `tar ended with ${result.code}`}`,
    )
  return { bytes: (await stat(draft)).size }
}

/** Opens a file that `writeAgeFile` wrote. */
export function ageSource(
  jobs: VolumeJobs,
  { from, passphrase }: { from: string; passphrase: string },
): BackupSource {
  const damaged = (cause: unknown) => new BackupError(`${from} is damaged or incomplete.`, { cause })

  async function open(): Promise<Readable> {
    const decrypter = new Decrypter()
    decrypter.addPassphrase(passphrase)
    const file = createReadStream(from, { highWaterMark: chunkBytes })
    try {
      return nodeOf(await decrypter.decrypt(webOf(file)))
    } catch (cause) {
      file.destroy()
      const reason = cause instanceof Error ? cause.message : ''
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
        throw new BackupError(`${from} does not exist.`, { cause })
      if (/no identity matched|incorrect passphrase/i.test(reason))
        throw new BackupError('The passphrase is wrong.', { cause })
      throw new BackupError(`${from} is no backup of Roost, or is damaged.`, { cause })
    }
  }

  /** Feeds the decrypted archive to a job that reads it with tar. */
  async function feed(script: string, mounts: readonly JobMount[], output?: Writable, signal?: AbortSignal) {
    const input = await open()
    let problem: unknown = null
    input.on('error', (error) => {
      problem = error
    })
    const running = jobs.run({
      script,
      env: {},
      mounts,
      hasNetwork: false,
      input,
      ...(output && { output }),
      signal,
    })
    const result = await running.catch((error: unknown) => {
      signal?.throwIfAborted()
      throw problem ? damaged(problem) : error
    })
    if (problem) throw damaged(problem)
    return result
  }

  return {
    name: from,
    async readPlatform(folder, { withHistory, signal }) {
      const input = await open()
      signal?.addEventListener('abort', () => input.destroy(), { once: true })
      await unpackStage(input, folder, { withHistory }).catch((cause: unknown) => {
        throw damaged(cause)
      })
    },
    // Each chunk is authenticated, and the last one is marked, so reading to the end proves the whole file.
    async check(_volumes, signal) {
      const input = await open()
      signal?.addEventListener('abort', () => input.destroy(), { once: true })
      try {
        for await (const _ of input);
      } catch (cause) {
        throw damaged(cause)
      }
    },
    async extract(mounts, volumes, signal) {
      if (mounts.length === 0) return
      const members = membersOf(volumes)
      const script = `exec tar -x -f - -C /restore --numeric-owner --same-owner --same-permissions ${members}`
      const { code, errors } = await feed(script, mounts, undefined, signal)
      if (code !== 0)
        throw new BackupError(`${from} cannot be restored: ${errors.at(-1) ?? `tar ended with ${code}`}`)
    },
    async compare(mounts, volumes, signal) {
      if (mounts.length === 0) return noDifferences
      const lines = differenceLines((line) => !line.startsWith('roost/volumes: '))
      const members = membersOf(volumes)
      const script = `exec tar --compare --numeric-owner -C /restore -f - ${members} 2>&1`
      const { code, errors } = await feed(script, mounts, lines.stream, signal)
      if (code > 1) throw new BackupError(`${from} cannot be compared: ${errors.at(-1) ?? ''}`)
      return lines.found
    },
    async read(path, output) {
      const archive = await open()
      const entries = extract()
      const wanted = `roost/volumes/${path}`
      let isFound = false
      let problem: unknown = null
      archive.on('error', (error) => {
        problem = error
      })
      const copying = pipeline(archive, entries).catch((error: unknown) => {
        if (!isFound) throw damaged(error)
      })
      for await (const entry of entries) {
        if (entry.header.name === wanted && entry.header.type === 'file') {
          isFound = true
          // A pipeline from a member that has closed already would wait forever.
          if (entry.destroyed) throw damaged(new Error('The archive ends within the file.'))
          await pipeline(entry, output).catch((error: unknown) => {
            throw problem ? damaged(problem) : error
          })
          break
        }
        entry.resume()
      }
      archive.destroy()
      await copying
      if (!isFound) throw new BackupError(`${path} is no file of this backup.`)
    },
  }
}

function membersOf(volumes: Volumes): string {
  if (volumes === 'all') return 'roost/volumes'
  return volumes.map((volume) => `roost/volumes/${volume}`).join(' ')
}

/** Both libraries define the same web streams, with types that the compiler does not unify. */
function webOf(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as unknown as ReadableStream<Uint8Array>
}

function nodeOf(stream: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as never, { highWaterMark: chunkBytes })
}
