import { createHash, randomUUID } from 'node:crypto'
import { lookup as systemLookup } from 'node:dns/promises'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
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
  /** Address of the only allowed host, without a trailing slash; `https:` or `http:`. */
  baseUrl: string
  /** Allows inner addresses, because the operator configured the host. */
  mayBeInner: boolean
  /** Absolute path; created if missing. */
  folder: string
  /** PATH of git and its child processes. */
  path: string
  /** Default time and size limits of a fetch. */
  bounds?: { fetchSeconds: number; fetchBytes: number }
  /** Resolves every address of a host name. */
  lookup?: Lookup
}

const readSeconds = 30
const pruneSeconds = 120
const defaultBounds = { fetchSeconds: 60, fetchBytes: 200 * 1024 * 1024 }
/** Listing output of about 80,000 files, which is held twice in memory. */
const maxListBytes = 8 * 1024 * 1024
/** Data memory of each of the three programs of a fetch. */
const memoryBytes = 40 * 1024 * 1024
const pruneMemoryBytes = 512 * 1024 * 1024
const shaLine = 64
/** Processor time of any repository; unpacking takes 1 s per 250 MB. */
const startSeconds = 0.75
const secondsPerByte = 0.1 / (1024 * 1024)

/** Git as installed on this machine, isolated from all configuration files. */
export function createGit(options: BinaryGitOptions): Git {
  const { baseUrl, folder, bounds = defaultBounds } = options
  const locate = createLocate({
    lookup:
      options.lookup ??
      (async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address)),
    mayBeInner: options.mayBeInner,
  })
  /** One fetch per cache at a time in this process; git's own locks apply between processes. */
  const fetching = new Map<string, Promise<unknown>>()

  const cacheOf = (address: string) =>
    join(folder, `${createHash('sha256').update(address).digest('hex').slice(0, 40)}.git`)

  type Run = Partial<GitCommand> & Pick<GitCommand, 'args'> & { call?: CallOptions; settings?: Setting[] }
  function git(cache: string, { call = {}, settings = [], env = {}, ...command }: Run) {
    return runGit({
      timeoutSeconds: call.timeoutSeconds ?? readSeconds,
      signal: call.signal,
      maxBytes: maxListBytes,
      maxFileBytes: bounds.fetchBytes,
      memoryBytes,
      ...command,
      env: { ...environment(options.path, cache, new URL(baseUrl).protocol, settings), ...env },
    })
  }

  async function open(address: string): Promise<GitOutcome<string>> {
    const cache = cacheOf(address)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const created = await git(cache, { args: ['init', '--quiet', '--bare', '--template=', cache] })
    if (created.ok) await markUsed(cache)
    return created.ok ? { ok: true, value: cache } : created
  }

  /** Resolves the host, so that git connects only to the checked addresses. */
  async function pin(address: string): Promise<GitOutcome<Setting[]>> {
    const { hostname, port, protocol } = new URL(address)
    const host = hostname.replace(/^\[|\]$/g, '')
    const at = Number(port) || (protocol === 'https:' ? 443 : 80)
    const found = await locate(host, at)
    if (!found.ok)
      return found.fault === 'not_found'
        ? failure('unreachable', 'The name of the git host cannot be resolved.')
        : failure('address_refused', 'The git host resolves to an inner network.')
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
    // Changes arrive as deltas, and applying them to a large file may exceed the limits or look damaged.
    // Fetching everything again may stay within the limits.
    const isUnpacked = got.ok || (got.fault !== 'too_large' && got.fault !== 'failed')
    if (!isUnpacked && !isNew) got = await attempt(['--refetch'])
    if (!got.ok) return got
    return commitAt(cache.value, target)
  }

  async function exclusive<T>(address: string, work: () => Promise<T>): Promise<T> {
    const current = (fetching.get(address) ?? Promise.resolve()).then(work)
    const settled = current.catch(() => {})
    fetching.set(address, settled)
    try {
      return await current
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
    const created = await git(cache, { args, env: fixedAuthor })
    return created.ok ? { ok: true, value: { commit: created.value.toString('utf8').trim() } } : created
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
      // Runs outside every cache, because it needs and stores nothing.
      const listed = await git('/nonexistent', {
        call: { timeoutSeconds: readSeconds, ...call },
        settings: [...pinned.value, ...tokenSettings(call.token)],
        args: ['ls-remote', '--symref', '--', checked.value, 'HEAD'],
      })
      return listed.ok ? headOf(listed.value.toString('utf8')) : listed
    },

    async bundle(address, source) {
      const cache = await open(address)
      if (!cache.ok) return cache
      // A separate index, because a killed process leaves a lock behind.
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
      const requested = [...new Set(blobs)]
      if (requested.length === 0) return { ok: true, value: new Map() }
      const got = await git(cacheOf(address), {
        args: ['cat-file', '--batch'],
        input: `${requested.join('\n')}\n`,
        maxBytes: maxBytes + requested.length * shaLine,
        call,
      })
      return got.ok ? parseBlobs(got.value, requested) : missingCache(got)
    },
  }
}

/**
 * A host declares how much it sends, not how large that becomes: a megabyte may expand to a gigabyte. Limits
 * processor time by the bytes received, far above what ordinary files need.
 */
function workFor(cache: string): () => Promise<number> {
  let received = 0
  return async () => {
    received = Math.max(received, await arrivingBytes(cache))
    return startSeconds + received * secondsPerByte
  }
}

/** Removes files of aborted fetches. Those of running fetches in other processes are younger. */
async function removeLeftovers(cache: string, fetchSeconds: number): Promise<void> {
  const before = Date.now() - 2 * fetchSeconds * 1000
  for (const file of [...(await arrivingPacks(cache)), ...(await locksIn(cache))]) {
    const found = await stat(file).catch(() => null)
    if (found && found.mtimeMs < before) await rm(file, { force: true })
  }
}

/** A killed git leaves its locks, and each later fetch would fail. */
async function locksIn(cache: string): Promise<string[]> {
  const refs = join(cache, 'refs')
  const inRefs = await readdir(refs, { recursive: true }).catch(() => [])
  const locks = inRefs.filter((name) => name.endsWith('.lock')).map((name) => join(refs, name))
  return ['shallow.lock', 'packed-refs.lock', 'config.lock'].map((name) => join(cache, name)).concat(locks)
}

/** Dates and names are part of a commit's SHA. */
const fixedAuthor = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Roost'],
    [`GIT_${role}_EMAIL`, 'roost@localhost'],
    [`GIT_${role}_DATE`, '2026-01-01T00:00:00Z'],
  ]),
)

function specOf({ kind, name }: GitRef): { source: string; target: string } {
  if (kind === 'commit') return { source: name, target: `refs/roost/commits/${name}` }
  const folder = kind === 'branch' ? 'heads' : 'tags'
  // A digest, because a name such as `release/1` cannot be stored beside an earlier `release`.
  const digest = createHash('sha256').update(name).digest('hex')
  return { source: `refs/${folder}/${name}`, target: `refs/roost/${folder}/${digest}` }
}

/** Parses the line `ref: refs/heads/<branch>\tHEAD` before that of the commit. */
function headOf(text: string): GitOutcome<string> {
  const [, name = ''] = /^ref: refs\/heads\/([^\t\n]+)\tHEAD$/m.exec(text) ?? []
  const isGiven = /^[0-9a-f]{40}\tHEAD$/m.test(text)
  if (!isGiven || name === '') return failure('ref_not_found', 'The repository has no default branch.')
  return checkRef({ kind: 'branch', name }) ?? { ok: true, value: name }
}

function entryOf({ mode, sha, size, path }: ReturnType<typeof parseTree>[number]): TreeEntry {
  const kinds = {
    '040000': 'folder',
    '100755': 'executable',
    '120000': 'link',
    '160000': 'submodule',
  } as const
  // Old repositories contain other modes, which git treats as plain files.
  const kind = Object.hasOwn(kinds, mode) ? kinds[mode as keyof typeof kinds] : 'file'
  return { path, kind, sha, size }
}

/** Parses blobs in the format `<sha> blob <size>\n<bytes>\n`. */
function parseBlobs(output: Buffer, requested: readonly string[]): GitOutcome<Map<string, Buffer>> {
  const blobs = new Map<string, Buffer>()
  let at = 0
  for (const sha of requested) {
    const end = output.indexOf(10, at)
    const [found, type, size] = output.toString('latin1', at, end).split(' ')
    if (found !== sha || type !== 'blob') return failure('missing', 'The cache does not hold this commit.')
    const start = end + 1
    blobs.set(sha, output.subarray(start, start + Number(size)))
    at = start + Number(size) + 1
  }
  return { ok: true, value: blobs }
}

/** The repository was not fetched on this machine yet. */
function missingCache(failed: GitFailure): GitFailure {
  return failed.fault === 'failed' || failed.fault === 'not_found'
    ? failure('missing', 'The cache does not hold this commit.')
    : failed
}
