import { createHash, randomUUID } from 'node:crypto'
import { lookup as systemLookup } from 'node:dns/promises'
import { mkdir, rm, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { createLocate, type Lookup } from '../../kit/addresses.ts'
import { environment, type Setting, tokenSettings } from './environment.ts'
import type { CallOptions, Git, GitFailure, GitOutcome, GitRef, TreeEntry } from './port.ts'
import { type GitCommand, runGit } from './process.ts'
import { createPrune, markUsed } from './prune.ts'
import { checkAddress, checkRef, failure, parseTree } from './rules.ts'
import { arrivingBytes, arrivingPacks } from './work.ts'

export type BinaryGitOptions = {
  /** Of the one host, without a slash at its end; `https:` or `http:`. */
  baseUrl: string
  /** The host was named by whoever runs the platform, and so may stand in a network of this machine. */
  mayBeInner: boolean
  /** Absolute; made when it is not there. */
  folder: string
  /** Of git and what it starts. */
  path: string
  /** How long a fetch may take, and how much it may bring, when the call does not say. */
  bounds?: { fetchSeconds: number; fetchBytes: number }
  /** Every address of a host name. */
  lookup?: Lookup
}

const readSeconds = 30
const pruneSeconds = 120
const defaultBounds = { fetchSeconds: 60, fetchBytes: 200 * 1024 * 1024 }
/** Of a listing: some eighty thousand files. It is held in pieces, whole and as text, one after the other. */
const listBytes = 8 * 1024 * 1024
/** Three programs of a fetch share what a process of the platform should not grow by. */
const memoryBytes = 40 * 1024 * 1024
const pruneMemoryBytes = 512 * 1024 * 1024
const shaLine = 64
/** Of the processor, for a repository of any size; unpacking is some 250 MB a second. */
const startSeconds = 0.75
const secondsPerByte = 0.1 / (1024 * 1024)

/** Git as it is installed on this machine, with nothing of anybody's configuration. */
export function createGit(options: BinaryGitOptions): Git {
  const { baseUrl, folder, bounds = defaultBounds } = options
  const locate = createLocate({
    lookup:
      options.lookup ??
      (async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address)),
    mayBeInner: options.mayBeInner,
  })
  /** One fetch at a time for each cache in this process; git's own locks hold between processes. */
  const fetching = new Map<string, Promise<unknown>>()

  const cacheOf = (address: string) =>
    join(folder, `${createHash('sha256').update(address).digest('hex').slice(0, 40)}.git`)

  type Run = Partial<GitCommand> & Pick<GitCommand, 'args'> & { call?: CallOptions; settings?: Setting[] }
  function git(cache: string, { call = {}, settings = [], env = {}, ...command }: Run) {
    return runGit({
      timeoutSeconds: call.timeoutSeconds ?? readSeconds,
      signal: call.signal,
      maxBytes: listBytes,
      maxFileBytes: bounds.fetchBytes,
      memoryBytes,
      ...command,
      env: { ...environment(options.path, cache, new URL(baseUrl).protocol, settings), ...env },
    })
  }

  async function open(address: string): Promise<GitOutcome<string>> {
    const cache = cacheOf(address)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const made = await git(cache, { args: ['init', '--quiet', '--bare', '--template=', cache] })
    if (made.ok) await markUsed(cache)
    return made.ok ? { ok: true, value: cache } : made
  }

  /** Where the host is now, so that what git connects to is what was checked. */
  async function pin(address: string): Promise<GitOutcome<Setting[]>> {
    const { hostname, port, protocol } = new URL(address)
    const host = hostname.replace(/^\[|\]$/g, '')
    const at = Number(port) || (protocol === 'https:' ? 443 : 80)
    const found = await locate(host, at)
    if (!found.ok)
      return found.fault === 'not_found'
        ? failure('unreachable', 'The git host cannot be found.')
        : failure('address_refused', 'The git host leads into an inner network.')
    if (isIP(host)) return { ok: true, value: [] }
    const addresses = found.addresses.map((each) => (isIP(each) === 6 ? `[${each}]` : each)).join(',')
    return { ok: true, value: [['http.curloptResolve', `${host}:${at}:${addresses}`]] }
  }

  async function fetchNow(address: string, ref: GitRef, call: Parameters<Git['fetch']>[2] = {}) {
    const [cache, pinned] = [await open(address), await pin(address)]
    if (!cache.ok) return cache
    if (!pinned.ok) return pinned
    await removeLeftovers(cache.value, bounds.fetchSeconds)
    const { source, target } = specOf(ref)
    const attempt = (how: string[]) =>
      git(cache.value, {
        call: { timeoutSeconds: bounds.fetchSeconds, ...call },
        maxFileBytes: call.maxBytes ?? bounds.fetchBytes,
        allowedSeconds: workFor(cache.value),
        settings: [...pinned.value, ...tokenSettings(call.token)],
        args: [
          ...[
            'fetch',
            '--quiet',
            '--no-tags',
            '--depth=1',
            '--no-recurse-submodules',
            '--no-write-fetch-head',
          ],
          ...[...how, '--force', '--', address, `${source}:${target}`],
        ],
      })
    const before = await git(cache.value, { args: ['for-each-ref', '--count=1'] })
    const isNew = !before.ok || before.value.length === 0
    let got = await attempt([])
    // What has changed comes as deltas of what is here, and to put a large file together takes more than it may: it
    // looks too large, or damaged. Whole it may be within the bounds, as it was before.
    const isUnpacked = got.ok || (got.fault !== 'too_large' && got.fault !== 'failed')
    if (!isUnpacked && !isNew) got = await attempt(['--refetch'])
    if (!got.ok) return got
    return commitAt(cache.value, target)
  }

  async function exclusive<T>(address: string, work: () => Promise<T>): Promise<T> {
    const mine = (fetching.get(address) ?? Promise.resolve()).then(work)
    const settled = mine.catch(() => {})
    fetching.set(address, settled)
    try {
      return await mine
    } finally {
      if (fetching.get(address) === settled) fetching.delete(address)
    }
  }

  async function commitAt(cache: string, ref: string): Promise<GitOutcome<{ commit: string }>> {
    const found = await git(cache, { args: ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`] })
    if (!found.ok)
      return found.fault === 'failed' ? failure('ref_not_found', 'The ref names no commit.') : found
    return { ok: true, value: { commit: found.value.toString('utf8').trim() } }
  }

  async function commitFolder(
    cache: string,
    source: string,
    index: string,
  ): Promise<GitOutcome<{ commit: string }>> {
    const env = { GIT_WORK_TREE: source, GIT_INDEX_FILE: index }
    const added = await git(cache, { args: ['-C', source, 'add', '--all', '--force', '--', '.'], env })
    if (!added.ok) return added
    const tree = await git(cache, { args: ['write-tree'], env })
    if (!tree.ok) return tree
    const args = ['commit-tree', '-m', 'bundled', tree.value.toString('utf8').trim()]
    const made = await git(cache, { args, env: fixedAuthor })
    return made.ok ? { ok: true, value: { commit: made.value.toString('utf8').trim() } } : made
  }

  return {
    address: (text) => checkAddress(text, baseUrl),
    checkRef,

    async fetch(address, ref, call) {
      const checked = checkAddress(address, baseUrl)
      if (!checked.ok) return checked
      const wrong = checkRef(ref)
      if (wrong) return wrong
      return exclusive(checked.value, () => fetchNow(checked.value, ref, call))
    },

    async defaultBranch(address, call = {}) {
      const checked = checkAddress(address, baseUrl)
      if (!checked.ok) return checked
      const pinned = await pin(checked.value)
      if (!pinned.ok) return pinned
      // Asked from outside of every cache: nothing of it is needed, and nothing is kept.
      const asked = await git('/nonexistent', {
        call: { timeoutSeconds: readSeconds, ...call },
        settings: [...pinned.value, ...tokenSettings(call.token)],
        args: ['ls-remote', '--symref', '--', checked.value, 'HEAD'],
      })
      return asked.ok ? headOf(asked.value.toString('utf8')) : asked
    },

    async bundle(address, source) {
      const cache = await open(address)
      if (!cache.ok) return cache
      // Of its own: whoever was killed at it leaves a lock behind.
      const index = join(cache.value, `bundle-${randomUUID()}`)
      try {
        return await commitFolder(cache.value, source, index)
      } finally {
        await rm(index, { force: true })
      }
    },

    prune: createPrune({
      folder,
      cacheOf,
      exclusive,
      git: (cache, args) => git(cache, { args, timeoutSeconds: pruneSeconds, memoryBytes: pruneMemoryBytes }),
    }),

    async list(address, commit, call) {
      const args = ['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit]
      const listed = await git(cacheOf(address), { args, call })
      if (!listed.ok) return missingCache(listed)
      return { ok: true, value: parseTree(listed.value.toString('utf8')).map(entryOf) }
    },

    async read(address, blobs, { maxBytes, ...call }) {
      const wanted = [...new Set(blobs)]
      if (wanted.length === 0) return { ok: true, value: new Map() }
      const got = await git(cacheOf(address), {
        args: ['cat-file', '--batch'],
        input: `${wanted.join('\n')}\n`,
        maxBytes: maxBytes + wanted.length * shaLine,
        call,
      })
      return got.ok ? splitBlobs(got.value, wanted) : missingCache(got)
    },
  }
}

/**
 * A host says how much it sends, not what that becomes: a megabyte may stand for a gigabyte. So the work of
 * unpacking is bounded by what has come so far, many times above what honest files take.
 */
function workFor(cache: string): () => Promise<number> {
  let most = 0
  return async () => {
    most = Math.max(most, await arrivingBytes(cache))
    return startSeconds + most * secondsPerByte
  }
}

/** Of fetches that were ended; those of one that runs in another process are younger than it may take. */
async function removeLeftovers(cache: string, fetchSeconds: number): Promise<void> {
  const before = Date.now() - 2 * fetchSeconds * 1000
  for (const file of await arrivingPacks(cache)) {
    const found = await stat(file).catch(() => null)
    if (found && found.mtimeMs < before) await rm(file, { force: true })
  }
}

/** Dates and names are part of a commit's SHA. */
const fixedAuthor = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Roost'],
    [`GIT_${who}_EMAIL`, 'roost@localhost'],
    [`GIT_${who}_DATE`, '2026-01-01T00:00:00Z'],
  ]),
)

function specOf({ kind, name }: GitRef): { source: string; target: string } {
  if (kind === 'commit') return { source: name, target: `refs/roost/commits/${name}` }
  const folder = kind === 'branch' ? 'heads' : 'tags'
  return { source: `refs/${folder}/${name}`, target: `refs/roost/${folder}/${name}` }
}

/** A line `ref: refs/heads/<branch>\tHEAD` before that of the commit. */
function headOf(text: string): GitOutcome<string> {
  const [, name = ''] = /^ref: refs\/heads\/([^\t\n]+)\tHEAD$/m.exec(text) ?? []
  const isGiven = /^[0-9a-f]{40}\tHEAD$/m.test(text)
  if (!isGiven || name === '')
    return failure('ref_not_found', 'The repository has no branch that comes first.')
  return checkRef({ kind: 'branch', name }) ?? { ok: true, value: name }
}

function entryOf({ mode, sha, size, path }: ReturnType<typeof parseTree>[number]): TreeEntry {
  const kinds = {
    '040000': 'folder',
    '100755': 'executable',
    '120000': 'link',
    '160000': 'submodule',
  } as const
  // Old repositories have files of other modes, which git takes as plain ones.
  const kind = Object.hasOwn(kinds, mode) ? kinds[mode as keyof typeof kinds] : 'file'
  return { path, kind, sha, size }
}

/** Each blob as `<sha> blob <size>\n<bytes>\n`. */
function splitBlobs(output: Buffer, wanted: readonly string[]): GitOutcome<Map<string, Buffer>> {
  const blobs = new Map<string, Buffer>()
  let at = 0
  for (const sha of wanted) {
    const end = output.indexOf(10, at)
    const [found, type, size] = output.toString('latin1', at, end).split(' ')
    if (found !== sha || type !== 'blob') return failure('missing', 'The cache does not hold this commit.')
    const start = end + 1
    blobs.set(sha, output.subarray(start, start + Number(size)))
    at = start + Number(size) + 1
  }
  return { ok: true, value: blobs }
}

/** Nothing of this repository was fetched on this machine yet. */
function missingCache(failed: GitFailure): GitFailure {
  return failed.fault === 'failed' || failed.fault === 'not_found'
    ? failure('missing', 'The cache does not hold this commit.')
    : failed
}
