import {
  type GitBranches,
  type GitEnd,
  type GitReset,
  type GitTransfer,
  maxPreserved,
} from '@roost/contracts/link/git'
import type { RunGit } from './run.ts'
import { failed, fetchBoth, headOf, reasonOf, seenAt } from './state.ts'

export type Reset = { end: GitEnd; snapshot_dir: string | null; files_preserved: string[] }

/** What the agent makes while it works; the rest of a workspace is what its source says. */
const state = [
  'content',
  'output',
  'reports',
  'exports',
  'uploads',
  'memory',
  'metrics.json',
  '.claude/skills',
]
const mostFiles = 20_000
const atOnce = 500

/**
 * Makes the workspace what the source branch is. What differed is kept as files in a folder and as a commit
 * under a ref; of that, what the agent has made comes back. Everything is done by git, as the developer.
 * `floor`: never part of a commit, and never the remote's to overwrite.
 */
export function createReset(git: RunGit, floor: readonly string[]) {
  async function save(target: string, stamp: string): Promise<{ saved: string } | { reason: string }> {
    const added = await git(['add', '--all', '--', ':(top)'])
    if (!added.ok) return { reason: reasonOf(added.error) }
    // Only those that the reset would overwrite.
    const theirs = await git(['ls-tree', '-z', '--name-only', target, '--', ...floor])
    for (const name of theirs.output.split('\0').filter(Boolean)) await git(['add', '--force', '--', name])
    const tree = await git(['write-tree'])
    const parent = await headOf(git)
    const parents = parent === null ? [] : ['-p', parent]
    const made = await git(['commit-tree', '-m', 'Before a reset', ...parents, tree.output.trim()])
    if (!tree.ok || !made.ok) return { reason: reasonOf(tree.ok ? made.error : tree.error) }
    const saved = made.output.trim()
    await git(['update-ref', `refs/roost/before-reset/${stamp}`, saved])
    return { saved }
  }

  async function inParts(files: readonly string[], args: readonly string[]): Promise<string | null> {
    for (let at = 0; at < files.length; at += atOnce) {
      const done = await git([...args, '--', ...files.slice(at, at + atOnce)])
      if (!done.ok) return reasonOf(done.error)
    }
    return null
  }

  async function keep(branches: GitBranches, transfer: GitTransfer): Promise<GitEnd> {
    await git(['reset', '--quiet', '--', ...floor])
    if (branches.source_mode) {
      await git(['reset', '--quiet', '--mixed'])
      return { outcome: 'done', commit_sha: await headOf(git), files_changed: 0 }
    }
    const staged = await git(['diff', '--cached', '--name-only', '-z'])
    const files_changed = staged.output.split('\0').filter(Boolean).length
    if (files_changed > 0) await git(['commit', '--quiet', '-m', 'State kept over a reset'])
    const spec = `HEAD:refs/heads/${branches.working}`
    // What the branch had there is in the folder, and here under the ref.
    const pushed = await git(['push', '--quiet', '--force', '--', transfer.url, spec], { transfer })
    if (!pushed.ok) return failed(reasonOf(pushed.error))
    await git(['update-ref', seenAt(branches.working), 'HEAD'])
    return { outcome: 'done', commit_sha: await headOf(git), files_changed }
  }

  return async ({ branches, transfer, stamp }: Omit<GitReset, 't'>): Promise<Reset> => {
    const nothing = (reason: string): Reset => ({
      end: failed(reason),
      snapshot_dir: null,
      files_preserved: [],
    })
    const away = await fetchBoth(git, branches, transfer)
    if (away !== null) return nothing(away)
    const target = seenAt(branches.source)
    const result = await save(target, stamp)
    if ('reason' in result) return nothing(result.reason)
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
    if (!compared.ok || differing.length > mostFiles) {
      await git(['reset', '--quiet', '--mixed'])
      return nothing(`More than ${mostFiles} files differ.`)
    }
    const snapshot_dir = `.roost/snapshots/${stamp}`
    const unkept = await inParts(differing, ['checkout-index', '--force', `--prefix=${snapshot_dir}/`])
    if (unkept !== null) return nothing(unkept)
    const done = await git(['reset', '--quiet', '--hard', target])
    if (!done.ok) return { ...nothing(reasonOf(done.error)), snapshot_dir }
    const preserved = differing.filter((path) => [...state, ...floor].some((own) => isBelow(path, own)))
    const lost = await inParts(preserved, ['--literal-pathspecs', 'checkout', '--quiet', saved])
    const end = lost === null ? await keep(branches, transfer) : failed(lost)
    return { end, snapshot_dir, files_preserved: preserved.slice(0, maxPreserved) }
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
