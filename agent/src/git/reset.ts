import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type GitBranches,
  type GitEnd,
  type GitReset,
  type GitTransfer,
  maxPreserved,
} from '@roost/contracts/link/git'
import { inFolder, openFolder } from '../workspace/open-folder.ts'
import type { RunGit } from './run.ts'
import { failed, fetchBoth, headOf, reasonOf, remoteRef } from './state.ts'

export type Reset = { end: GitEnd; snapshot_dir: string | null; files_preserved: string[] }

/** Paths where the agent stores its own results. The rest of the workspace belongs to the source. */
const agentPaths = [
  'content',
  'output',
  'reports',
  'exports',
  'uploads',
  'memory',
  'metrics.json',
  '.claude/skills',
]
const snapshotsFolder = '.roost/snapshots'
const maxFiles = 20_000
const filesPerCall = 500

/**
 * Resets the workspace to the source branch. Saves changed files in a snapshot folder and as a commit under a
 * ref, then restores the agent's own results. All steps run in git as the developer.
 * `neverCommitted`: paths that are never committed and never overwritten by the remote.
 */
export function createReset(git: RunGit, home: string, neverCommitted: readonly string[]) {
  async function save(target: string, stamp: string): Promise<{ saved: string } | { reason: string }> {
    const added = await git(['add', '--all', '--', ':(top)'])
    if (!added.ok) return { reason: reasonOf(added.error) }
    // Only files that the reset would overwrite.
    const remoteFiles = await git(['ls-tree', '-z', '--name-only', target, '--', ...neverCommitted])
    for (const name of remoteFiles.output.split('\0').filter(Boolean))
      await git(['add', '--force', '--', name])
    const tree = await git(['write-tree'])
    const parent = await headOf(git)
    const parents = parent === null ? [] : ['-p', parent]
    const made = await git(['commit-tree', '-m', 'Before a reset', ...parents, tree.output.trim()])
    if (!tree.ok || !made.ok) return { reason: reasonOf(tree.ok ? made.error : tree.error) }
    const saved = made.output.trim()
    await git(['update-ref', `refs/roost/before-reset/${stamp}`, saved])
    return { saved }
  }

  async function inBatches(files: readonly string[], args: readonly string[]): Promise<string | null> {
    for (let at = 0; at < files.length; at += filesPerCall) {
      const done = await git([...args, '--', ...files.slice(at, at + filesPerCall)])
      if (!done.ok) return reasonOf(done.error)
    }
    return null
  }

  async function pushRestored(branches: GitBranches, transfer: GitTransfer): Promise<GitEnd> {
    await git(['reset', '--quiet', '--', ...neverCommitted])
    if (branches.source_mode) {
      await git(['reset', '--quiet', '--mixed'])
      return { outcome: 'done', commit_sha: await headOf(git), files_changed: 0 }
    }
    const staged = await git(['diff', '--cached', '--name-only', '-z'])
    const files_changed = staged.output.split('\0').filter(Boolean).length
    if (files_changed > 0) await git(['commit', '--quiet', '-m', 'State kept over a reset'])
    const spec = `HEAD:refs/heads/${branches.working}`
    // The branch's former commits remain in the snapshot folder and under the ref.
    const pushed = await git(['push', '--quiet', '--force', '--', transfer.url, spec], { transfer })
    if (!pushed.ok) return failed(reasonOf(pushed.error))
    await git(['update-ref', remoteRef(branches.working), 'HEAD'])
    return { outcome: 'done', commit_sha: await headOf(git), files_changed }
  }

  return async ({ branches, transfer, stamp }: Omit<GitReset, 't'>): Promise<Reset> => {
    const failure = (reason: string): Reset => ({
      end: failed(reason),
      snapshot_dir: null,
      files_preserved: [],
    })
    const fetchFailure = await fetchBoth(git, branches, transfer)
    if (fetchFailure !== null) return failure(fetchFailure)
    const target = remoteRef(branches.source)
    const result = await save(target, stamp)
    if ('reason' in result) return failure(result.reason)
    const { saved } = result
    const compared = await git([
      'diff',
      '-z',
      '--name-only',
      '--no-renames',
      '--diff-filter=AMT',
      target,
      saved,
    ])
    const differing = compared.output.split('\0').filter(Boolean)
    if (!compared.ok || differing.length > maxFiles) {
      await git(['reset', '--quiet', '--mixed'])
      return failure(`More than ${maxFiles} files differ.`)
    }
    const snapshot_dir = `${snapshotsFolder}/${stamp}`
    if (differing.length > 0 && !(await makeSnapshotFolder(home, stamp)))
      return failure(`The folder ${snapshot_dir} cannot be created.`)
    const snapshotFailure = await inBatches(differing, [
      'checkout-index',
      '--force',
      `--prefix=${snapshot_dir}/`,
    ])
    if (snapshotFailure !== null) return failure(snapshotFailure)
    const done = await git(['reset', '--quiet', '--hard', target])
    if (!done.ok) return { ...failure(reasonOf(done.error)), snapshot_dir }
    const preserved = differing.filter((path) =>
      [...agentPaths, ...neverCommitted].some((own) => isBelow(path, own)),
    )
    const restoreFailure = await inBatches(preserved, ['--literal-pathspecs', 'checkout', '--quiet', saved])
    const end = restoreFailure === null ? await pushRestored(branches, transfer) : failed(restoreFailure)
    return { end, snapshot_dir, files_preserved: preserved.slice(0, maxPreserved) }
  }
}

/** Git writes through links in the prefix of a checkout, so none may be in the place of these folders. */
async function makeSnapshotFolder(home: string, stamp: string): Promise<boolean> {
  try {
    await using folder = await openFolder(home, join(home, snapshotsFolder), 0o777)
    await mkdir(inFolder(folder, stamp))
    return true
  } catch {
    return false
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
