import { Writable } from 'node:stream'
import type { JobMount, VolumeJobs } from '../../ports/volume-jobs/port.ts'
import { BackupError } from './archive.ts'
import type { FullManifest } from './content.ts'

/** Holes of one volume that are read. A file of 16 TiB can take no space, and would be read for days. */
const maxHoleBytes = 1024 ** 3
/** Bytes of one volume that further names of the same files may add, because each name is read. */
const maxRepeatedBytes = 1024 ** 3
/** Every pattern is compared with every file, so a volume with more of these files is left out. */
const maxPatterns = 500

const script = `cd / && find roost/volumes \\( -type s -o -type p -o -type f \\( -size +32768 -o -links +1 \\) \\) -printf '%y %D:%i %n %s %b %p\\0'`

type Skipped = FullManifest['skipped'][number]
export type Oddities = { skipped: Skipped[]; excluded: string }

/** What one volume has used of its limits. */
type Volume = { patterns: Set<string>; skipped: Skipped[]; holes: number; repeated: number }

/**
 * Finds files that a backup must not read: with huge holes, or with many names. Sockets and named pipes are excluded
 * too, because they mean nothing without the process that made them.
 */
export async function findOddities(
  jobs: VolumeJobs,
  mounts: JobMount[],
  signal?: AbortSignal,
): Promise<Oddities> {
  const known = new Set<string>()
  const volumes = new Map<string, Volume>()
  const output = records((record) => {
    const found = /^(\w) (\S+) (\d+) (\d+) (\d+) (roost\/volumes\/([^/]+)\/.*)$/s.exec(record)
    if (!found) return
    const [, type, inode = '', links, size = '', blocks, path = '', name = ''] = found
    const volume = volumes.get(name) ?? { patterns: new Set(), skipped: [], holes: 0, repeated: 0 }
    volumes.set(name, volume)
    if (volume.patterns.size > maxPatterns) return
    const skip = (reason: Skipped['reason']) => {
      volume.patterns.add(patternOf(path))
      volume.skipped.push({ path: path.slice('roost/volumes/'.length), reason })
    }
    if (type !== 'f') {
      volume.patterns.add(patternOf(path))
      return
    }
    const hole = Math.max(0, Number(size) - Number(blocks) * 512)
    if (hole > 1024 ** 2) volume.holes += hole
    if (hole > 1024 ** 2 && volume.holes > maxHoleBytes) return skip('sparse')
    if (Number(links) < 2) return
    if (known.has(inode)) volume.repeated += Number(size)
    if (known.has(inode) && volume.repeated > maxRepeatedBytes) skip('hard_links')
    known.add(inode)
  })
  const { code, errors } = await jobs.run({
    script,
    env: {},
    mounts,
    hasNetwork: false,
    output,
    ...(signal && { signal }),
  })
  // Files that disappear during the walk end `find` with 1.
  if (code > 1)
    throw new BackupError(`The workspaces cannot be read: ${errors.at(-1) ?? `find ended with ${code}`}`)
  const all = [...volumes].map(([name, { patterns, skipped }]) =>
    patterns.size <= maxPatterns
      ? { patterns: [...patterns], skipped }
      : { patterns: [`/roost/volumes/${name}/*`], skipped: [{ path: name, reason: 'too_many' as const }] },
  )
  return {
    skipped: all.flatMap(({ skipped }) => skipped),
    excluded: all.flatMap(({ patterns }) => patterns.map((pattern) => `${pattern}\n`)).join(''),
  }
}

/** A pattern that restic and tar read alike: characters with a meaning in either of them become `*`. */
export function patternOf(path: string): string {
  const pattern = path.replaceAll(/[*?[\]\\$\p{Cc}\ufffd]+|\s+$/gu, '*')
  // Two would match all folders below.
  return `/${pattern.replaceAll(/\*+/g, '*')}`
}

/** Calls `take` for each part that ends with a zero byte. */
function records(take: (record: string) => void): Writable {
  let rest: Buffer = Buffer.alloc(0)
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      const text = Buffer.concat([rest, piece])
      let start = 0
      for (let end = text.indexOf(0); end >= 0; end = text.indexOf(0, start)) {
        take(text.subarray(start, end).toString('utf8'))
        start = end + 1
      }
      rest = text.subarray(start)
      done()
    },
  })
}
