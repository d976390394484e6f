import { mkdir } from 'node:fs/promises'
import { PassThrough, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { z } from 'zod'
import type { JobMount, JobResult, VolumeJobs } from '../../ports/volume-jobs/port.ts'
import { BackupError } from './archive.ts'
import { packStage, unpackStage } from './content.ts'
import { type BackupSource, type Differences, listedDifferences, type Volumes } from './source.ts'
import { openRestic, type RepositoryAddress } from './target.ts'

const Snapshot = z.object({ id: z.string(), short_id: z.string(), time: z.string() })
export type Snapshot = z.infer<typeof Snapshot>
const Summary = z.object({
  message_type: z.literal('summary'),
  files_new: z.number(),
  files_changed: z.number(),
  files_unmodified: z.number(),
  data_added: z.number(),
  total_bytes_processed: z.number(),
  snapshot_id: z.string(),
})
/** Snapshots to keep; the newest of each day, week and month. */
export type Retention = { daily: number; weekly: number; monthly: number }

export type RepositoryRun = {
  snapshotId: string
  /** Bytes of all files, and bytes that were not in the repository before. */
  totalBytes: number
  addedBytes: number
  filesNew: number
  filesChanged: number
  filesUnmodified: number
  /** Files that could not be read, such as those deleted meanwhile. */
  unreadable: number
}

/** One installation per repository: retention counts its snapshots together. */
const host = 'roost'
/** Removes locks that killed jobs left: those of more than 30 minutes, because restic renews its lock every 5 minutes. */
const unlock = 'restic unlock --quiet || true'
const snapshotId = /^(latest|[0-9a-f]{8,64})$/

export function openRepository(jobs: VolumeJobs, options: RepositoryAddress) {
  const restic = openRestic(jobs, options)
  const name = `The repository ${options.address}`
  const prepare = () => mkdir(restic.folder ?? options.cacheFolder, { recursive: true, mode: 0o700 })

  /** Throws for a wrong passphrase. Creates the repository when it does not exist and `mayCreate`. */
  async function open(mayCreate: boolean, signal?: AbortSignal): Promise<void> {
    await prepare()
    const found = await restic.run({ script: 'restic cat config --no-lock >/dev/null', signal })
    if (found.code === 0) return
    const isMissing = /Is there a repository at the following location/.test(found.errors.join('\n'))
    if (!isMissing) throw failure(found)
    if (!mayCreate) throw new BackupError(`${name} does not exist.`)
    const created = await restic.run({ script: 'restic init --quiet', signal })
    if (created.code !== 0) throw failure(created)
  }

  function failure({ code, errors }: JobResult): BackupError {
    const text = errors.join('\n')
    if (/wrong password or no key found/.test(text))
      return new BackupError(`${name} has another passphrase: the passphrase is wrong.`)
    if (/repository is already locked/.test(text))
      return new BackupError(
        `${name} is locked: another machine uses it, or a backup was interrupted in the last 30 minutes. Try again later.`,
      )
    if (damage.test(text)) return new BackupError(`${name} is damaged: ${reasonOf(errors)}`)
    return new BackupError(`${name} cannot be used: ${reasonOf(errors) || `restic ended with ${code}`}`)
  }

  return {
    open,

    /** Adds a snapshot of the staged files and the mounted volumes. Unchanged files are not read again. */
    async add(stage: string, mounts: readonly JobMount[], signal?: AbortSignal): Promise<RepositoryRun> {
      const lines = textLines()
      const input = packStage(stage)
      const script = `tar -x -f - -C /roost --no-same-owner
${unlock}
restic backup --json --quiet --host ${host} --exclude-file=/roost/platform/excluded /roost`
      const result = await restic.run({ script, mounts, input, output: lines.stream, signal })
      // 3: a snapshot was made, and some files could not be read.
      if (result.code !== 0 && result.code !== 3) throw failure(result)
      const summary = lines.all().flatMap((line) => {
        const parsed = Summary.safeParse(parseJson(line))
        return parsed.success ? [parsed.data] : []
      })[0]
      if (!summary) throw failure(result)
      return {
        snapshotId: summary.snapshot_id,
        totalBytes: summary.total_bytes_processed,
        addedBytes: summary.data_added,
        filesNew: summary.files_new,
        filesChanged: summary.files_changed,
        filesUnmodified: summary.files_unmodified,
        unreadable: result.code === 3 ? result.errors.length : 0,
      }
    },

    /** Oldest first. */
    async list(signal?: AbortSignal): Promise<Snapshot[]> {
      const lines = textLines()
      const result = await restic.run({
        script: `restic snapshots --json --no-lock --host ${host}`,
        output: lines.stream,
        signal,
      })
      if (result.code !== 0) throw failure(result)
      return z.array(Snapshot).parse(parseJson(lines.all().join('\n')) ?? [])
    },

    /** Removes snapshots that are not kept, and the data that only they need. */
    async prune({ daily, weekly, monthly }: Retention, signal?: AbortSignal): Promise<void> {
      const kept = `--keep-last 1 --keep-daily ${daily} --keep-weekly ${weekly} --keep-monthly ${monthly}`
      const result = await restic.run({
        script: `${unlock}
restic forget --quiet --host ${host} --group-by host ${kept} --prune`,
        signal,
      })
      if (result.code !== 0) throw failure(result)
    },

    source(id: string): BackupSource {
      if (!snapshotId.test(id)) throw new BackupError('The snapshot must be an id of the list, or latest.')
      const dump = (path: string) => `restic dump --no-lock --host ${host} ${id} ${path} -a tar`
      return {
        name,
        async readPlatform(folder, { withHistory, signal }) {
          await open(false, signal)
          const output = new PassThrough()
          const running = restic.run({ script: dump('/roost/platform'), output, signal })
          running.catch((error: Error) => output.destroy(error))
          const unpacking = unpackStage(output, folder, { withHistory }).catch(async (error: unknown) => {
            // An incomplete archive: restic knows why.
            const result = output.readableEnded ? await running : null
            throw result && result.code !== 0 ? failure(result) : error
          })
          const [result] = await Promise.all([running, unpacking])
          if (result.code !== 0) throw failure(result)
        },
        async check(volumes, signal) {
          for (const path of pathsOf(volumes)) {
            const result = await restic.run({ script: `${dump(path)} > /dev/null`, signal })
            if (result.code !== 0) throw failure(result)
          }
        },
        async extract(mounts, volumes, signal) {
          if (mounts.length === 0) return
          const included = pathsOf(volumes)
            .map((path) => `--include ${path}`)
            .join(' ')
          const result = await restic.run({
            script: `restic restore --no-lock --host ${host} ${id} --target /restore ${included} --verify >&2`,
            mounts,
            signal,
          })
          // restic reports files that it could not restore, and still ends with 0.
          const isIncomplete = result.errors.some((line) =>
            /^ignoring error for|There were \d+ errors/.test(line),
          )
          if (result.code !== 0 || isIncomplete) throw failure(result)
        },
        async compare(mounts, volumes, signal) {
          if (mounts.length === 0) return noDifferences
          // `restic dump` rounds the times of files to seconds.
          const lines = differenceLines(
            (line) => !line.endsWith(': Mod time differs') && !line.startsWith('roost/volumes: '),
          )
          // A named pipe, because a pipeline of /bin/sh hides the exit code of restic.
          const script = `mkfifo /tmp/archive
for path in ${pathsOf(volumes).join(' ')}; do
  restic dump --no-lock --host ${host} ${id} "$path" -a tar > /tmp/archive & dump=$!
  found=0; tar --compare --numeric-owner -C /restore -f - < /tmp/archive 2>&1 || found=$?
  wait $dump || exit 9
  [ $found -le 1 ] || exit 9
done`
          const result = await restic.run({ script, mounts, output: lines.stream, signal })
          if (result.code !== 0) throw failure(result)
          return lines.found
        },
        async read(path, output, signal) {
          const result = await restic.run({
            script: `restic dump --no-lock --host ${host} ${id} "$ROOST_FILE"`,
            env: { ROOST_FILE: `/roost/volumes/${path}` },
            output,
            signal,
          })
          if (result.code !== 0) throw failure(result)
        },
      }
    },
  }
}
export type Repository = ReturnType<typeof openRepository>

const damage =
  /ciphertext verification failed|returned error, retrying|invalid data returned|unexpected EOF|hash mismatch|not found in (index|repository)|checksum|There were \d+ errors|ignoring error for/i

function reasonOf(errors: string[]): string {
  const line = errors.findLast((each) => !/^There were|^Fatal: There were/.test(each)) ?? ''
  return line.replace(/^Fatal: /, '').slice(0, 300)
}

/** Names of volumes were checked when the manifest was read. */
function pathsOf(volumes: Volumes): string[] {
  if (volumes === 'all') return ['/roost/volumes']
  return volumes.map((volume) => `/roost/volumes/${volume}`)
}

const maxBlockLength = 8 * 1024 ** 2

/** Collects lines. Of a longer text, at least the last 8 Mi characters remain. */
export function textLines() {
  let [older, newer]: [string[], string[]] = [[], []]
  let length = 0
  const stream = lineStream((line) => {
    if (length > maxBlockLength) {
      older = newer
      newer = []
      length = 0
    }
    newer.push(line)
    length += line.length
  })
  return { stream, all: () => [...older, ...newer] }
}

export const noDifferences: Differences = { count: 0, listed: [] }

/** Reads one difference per line. `isDifference` excludes other lines. */
export function differenceLines(isDifference: (line: string) => boolean) {
  const found: Differences = { count: 0, listed: [] }
  const stream = lineStream((line) => {
    if (!isDifference(line)) return
    found.count += 1
    if (found.listed.length < listedDifferences) found.listed.push(line)
  })
  return { stream, found }
}

/** Splits text into lines. Skips empty ones, and keeps only the end of a very long one. */
function lineStream(onLine: (line: string) => void): Writable {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const take = (line: string) => {
    if (line !== '') onLine(line)
  }
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(piece)).split('\n')
      rest = (lines.pop() ?? '').slice(-2 * maxBlockLength)
      for (const line of lines) take(line)
      done()
    },
    final(done) {
      take(rest + decoder.end())
      done()
    },
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
