import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitBranches, GitCommitFacts, GitEnd, GitState, GitTransfer } from '@roost/contracts/link/git'
import { ignoreFile, isOnlyPlatformChange } from './platform-ignore.ts'
import type { RunGit } from './run.ts'

export const maxChanges = 500

/** The local ref that holds the last fetched state of a remote branch. */
export const remoteRef = (branch: string) => `refs/remotes/origin/${branch}`

export async function isRepository(home: string): Promise<boolean> {
  return access(join(home, '.git', 'HEAD')).then(
    () => true,
    () => false,
  )
}

export async function readState(git: RunGit, home: string, branches: GitBranches): Promise<GitState> {
  if (!(await isRepository(home))) {
    return {
      is_repository: false,
      branch: null,
      remote_url: null,
      has_credential: false,
      last_commit: null,
      changes: [],
      ahead: null,
      behind: null,
    }
  }
  const [head, commits, status, addresses, against] = [
    await git(['symbolic-ref', '--short', '-q', 'HEAD']),
    await readLog(git, 1),
    await git(['status', '--porcelain=v1', '-z', '--untracked-files=normal']),
    await git(['config', '--get-regexp', '^(remote\\..*\\.(push)?url|url\\..*\\.(push)?insteadof)$']),
    await upstreamOf(git, branches),
  ]
  const lines = addresses.output.split('\n').filter(Boolean)
  const origin = lines
    .find((line) => line.startsWith('remote.origin.url '))
    ?.slice('remote.origin.url '.length)
  const counted =
    against === null ? null : await git(['rev-list', '--left-right', '--count', `HEAD...${against}`])
  const [ahead, behind] = counted?.ok ? counted.output.trim().split(/\s+/).map(Number) : []
  return {
    is_repository: true,
    branch: head.ok ? head.output.trim() : null,
    remote_url: origin ? withoutCredentials(origin) : null,
    has_credential: lines.some((line) => /:\/\/[^/\s]*@/.test(line)),
    last_commit: commits[0] ?? null,
    changes: (await withoutPlatformChange(git, home, status.output.split('\0').filter(Boolean))).slice(
      0,
      maxChanges,
    ),
    ahead: ahead ?? null,
    behind: behind ?? null,
  }
}

/** The platform's own lines in `.gitignore` are not a change of the agent. */
async function withoutPlatformChange(git: RunGit, home: string, changes: string[]): Promise<string[]> {
  const isIgnoreFile = (change: string) => change.slice(3) === ignoreFile
  if (!changes.some(isIgnoreFile) || !(await isOnlyPlatformChange(git, home))) return changes
  return changes.filter((change) => !isIgnoreFile(change))
}

/**
 * Returns the ref to compare with: the working branch on the remote, else the source. Null when neither was
 * fetched.
 */
export async function upstreamOf(
  git: RunGit,
  { working, source, source_mode }: GitBranches,
): Promise<string | null> {
  for (const branch of source_mode ? [source] : [working, source]) {
    const found = await git(['rev-parse', '--verify', '-q', `${remoteRef(branch)}^{commit}`])
    if (found.ok) return remoteRef(branch)
  }
  return null
}

/** Returns the commit before a push: the remote's working branch, else the point where it left the source. */
export async function pushBaseOf(git: RunGit, { working, source }: GitBranches): Promise<string | null> {
  for (const args of [
    ['rev-parse', '--verify', '-q', `${remoteRef(working)}^{commit}`],
    ['merge-base', 'HEAD', remoteRef(source)],
  ]) {
    const found = await git(args)
    if (found.ok) return found.output.trim()
  }
  return null
}

/** Fetches both branches of the binding. Returns the reason of a failure, or null. */
export async function fetchBoth(
  git: RunGit,
  branches: GitBranches,
  transfer: GitTransfer,
): Promise<string | null> {
  const requested = [...new Set([branches.source, ...(branches.source_mode ? [] : [branches.working])])]
  const listing = await git(
    ['ls-remote', '--', transfer.url, ...requested.map((name) => `refs/heads/${name}`)],
    {
      transfer,
    },
  )
  if (!listing.ok) return reasonOf(listing.error)
  const present = requested.filter((name) => listing.output.includes(`\trefs/heads/${name}\n`))
  if (!present.includes(branches.source)) return `The remote has no branch "${branches.source}".`
  const specs = present.map((name) => `+refs/heads/${name}:${remoteRef(name)}`)
  const args = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head']
  const got = await git([...args, '--', transfer.url, ...specs], { transfer })
  return got.ok ? null : reasonOf(got.error)
}

export async function readLog(git: RunGit, limit: number): Promise<GitCommitFacts[]> {
  const read = await git(['log', '-z', `--max-count=${limit}`, '--format=%H%x01%s%x01%an%x01%aI'])
  if (!read.ok) return []
  return read.output
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const [sha = '', message = '', author = '', date = ''] = entry.split('\x01')
      return { sha, message: message.slice(0, 1000), author: author.slice(0, 200), date }
    })
}

/** Null when there is no commit yet. */
export async function headOf(git: RunGit): Promise<string | null> {
  const found = await git(['rev-parse', '--verify', '-q', 'HEAD'])
  return found.ok ? found.output.trim() : null
}

export function failed(message: string): GitEnd {
  return { outcome: 'failed', message }
}

/** Turns git's output into a message for people. Removes addresses, which may contain secrets. */
export function reasonOf(error: string): string {
  if (/returned error: 40[13]|Authentication failed|could not read Username/i.test(error)) {
    return 'The git host refused: the token is missing, invalid, or lacks permission.'
  }
  if (/returned error: 404|not found/i.test(error))
    return 'The git host has no such repository, or this token cannot see it.'
  if (/unable to access|Failed to connect|returned error: 5\d\d|timed out|hung up|early EOF/i.test(error)) {
    return 'The git host cannot be reached.'
  }
  const line = error.split('\n').findLast((each) => /^(fatal|error|!)/.test(each.trim())) ?? 'git failed'
  return line
    .replaceAll(/\w+:\/\/\S+/g, 'the remote')
    .trim()
    .slice(0, 300)
}

function withoutCredentials(address: string): string {
  return address.replace(/:\/\/[^/\s]*@/, '://')
}
