import type {
  GitBind,
  GitBranches,
  GitChange,
  GitChangeAnswer,
  GitConflict,
  GitEnd,
  GitEndAnswer,
  GitInitialize,
  GitLogAnswer,
  GitLook,
  GitLookAnswer,
  GitPull,
  GitReset,
  GitResetAnswer,
  GitSync,
} from '@roost/contracts/link/git'
import { editPlainFile } from '../workspace/plain-file.ts'
import { createReadChange } from './change.ts'
import { createOwnRemote } from './own-remote.ts'
import { withCommittedIgnore } from './platform-ignore.ts'
import { createReset } from './reset.ts'
import type { RunGit } from './run.ts'
import {
  failed,
  fetchBoth,
  headOf,
  isRepository,
  pushBaseOf,
  readLog,
  readState,
  reasonOf,
  remoteRef,
  upstreamOf,
} from './state.ts'
import { createCheckedGit } from './unsafe-repository.ts'

type Without<T> = Omit<T, 't'>

export type WorkspaceGit = {
  look(call: Without<GitLook>): Promise<GitLookAnswer>
  log(limit: number): Promise<GitLogAnswer>
  change(call: Without<GitChange>): Promise<GitChangeAnswer>
  bind(call: Without<GitBind>): Promise<GitEndAnswer>
  sync(call: Without<GitSync>): Promise<GitEndAnswer>
  pull(call: Without<GitPull>): Promise<GitEndAnswer>
  initialize(call: Without<GitInitialize>): Promise<GitEndAnswer>
  reset(call: Without<GitReset>): Promise<GitResetAnswer>
}

/** Files of the platform or secrets of users: never part of a commit. */
const neverCommitted = [
  '.env',
  '.mcp.json',
  '.credentials.enc',
  '.ssh',
  '.roost/keys',
  '.roost/state',
  '.roost/spool',
]
const excludedPaths = [
  ...neverCommitted,
  '.roost',
  '.tmp',
  '.roost-initialized',
  '.git-clone-status',
  'uploads',
  'shared-in',
  'shared-out',
  '.cache',
  '.npm',
  '.local',
  '.bash_history',
  '.bash_logout',
  '.bashrc',
  '.profile',
  '.claude.json*',
  '.claude/projects',
  '.claude/.credentials.json',
  '.claude/.roost-skills',
  '.codex',
  '.gemini',
]

export type WorkspaceGitDeps = {
  git: RunGit
  home: string
  /** True once somebody other than the owner may have written to the workspace. */
  isShared(): boolean
}

/** The workspace as the repository of the agent's binding. Runs one call at a time. */
export function createWorkspaceGit({ git: run, home, isShared }: WorkspaceGitDeps): WorkspaceGit {
  const git = createCheckedGit(run, home, isShared)
  const reset = createReset(git, home, neverCommitted)
  const readChange = createReadChange(git)
  const initialize = createOwnRemote({
    git,
    prepare,
    startAt: beginAt,
    commit: (text) => commitChanges(text, null),
  })
  let last: Promise<unknown> = Promise.resolve()
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work)
    last = next.catch(() => {})
    return next
  }

  async function withState(branches: GitBranches, end: GitEnd): Promise<GitEndAnswer> {
    return { end, state: await readState(git, home, branches) }
  }

  async function bind({ branches, transfer, remote_url, commit }: Without<GitBind>): Promise<GitEnd> {
    const prepareFailure = await prepare(branchOf(branches), remote_url)
    if (prepareFailure) return prepareFailure
    const fetchFailure = await fetchBoth(git, branches, transfer)
    if (fetchFailure !== null) return failed(fetchFailure)
    const failure = await beginAt(branches, commit)
    return failure ?? { outcome: 'done', commit_sha: await headOf(git), files_changed: 0 }
  }

  async function prepare(branch: string, remoteUrl: string): Promise<GitEnd | null> {
    if (!(await isRepository(home))) {
      const result = await git(['init', '--quiet', '--template=', '-b', branch])
      if (!result.ok) return failed(reasonOf(result.error))
    }
    await git(['config', '--replace-all', 'remote.origin.url', remoteUrl])
    await git(['config', '--replace-all', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'])
    return (await exclude(home)) ? null : failed('.git/info/exclude is not a regular file.')
  }

  async function beginAt(branches: GitBranches, commit: string | null): Promise<GitEnd | null> {
    const branch = branchOf(branches)
    const from = await findStart(branches, commit)
    if (from === null) return failed('The remote has no commit to start from.')
    // Files stay unchanged: differences from the commit appear as changes.
    for (const args of [
      ['update-ref', `refs/heads/${branch}`, from],
      ['symbolic-ref', 'HEAD', `refs/heads/${branch}`],
      ['reset', '--quiet', '--mixed'],
    ]) {
      const done = await git(args)
      if (!done.ok) return failed(reasonOf(done.error))
    }
    return null
  }

  async function findStart(branches: GitBranches, commit: string | null): Promise<string | null> {
    // A branch that the agent pushed before an earlier unbinding has priority.
    const own = branches.source_mode ? [] : [remoteRef(branches.working)]
    for (const ref of [...own, ...(commit ? [commit] : []), remoteRef(branches.source)]) {
      const found = await git(['rev-parse', '--verify', '-q', `${ref}^{commit}`])
      if (found.ok) return found.output.trim()
    }
    return null
  }

  async function sync({ branches, transfer, message, paths, strategy }: Without<GitSync>): Promise<GitEnd> {
    const found = await git(['rev-parse', '--git-dir'])
    if (!found.ok) return failed(reasonOf(found.error))
    const changed = await commitChanges(message, paths)
    if (typeof changed === 'string') return { outcome: 'refused', message: changed }
    const fetchFailure = await fetchBoth(git, branches, transfer)
    if (fetchFailure !== null) return failed(fetchFailure)
    const { ahead, behind } = await readState(git, home, branches)
    if (
      strategy === 'normal' &&
      (behind ?? 0) > 0 &&
      (await upstreamOf(git, branches)) === remoteRef(branches.working)
    ) {
      return conflict(
        (ahead ?? 0) > 0 ? 'diverged' : 'remote_ahead',
        'The remote has commits that the agent does not have.',
      )
    }
    if (strategy === 'pull_first') {
      const failure = await rebase(branches)
      if (failure) return failure
    }
    const from = await pushBaseOf(git, branches)
    const spec = `HEAD:refs/heads/${branches.working}`
    const force = strategy === 'force_push' ? ['--force'] : []
    const pushed = await git(['push', '--quiet', ...force, '--', transfer.url, spec], { transfer })
    if (!pushed.ok) {
      if (/\[rejected\]|non-fast-forward|fetch first/.test(pushed.error)) {
        return conflict('remote_ahead', 'The remote has moved in the meantime.')
      }
      return failed(reasonOf(pushed.error))
    }
    await git(['update-ref', remoteRef(branches.working), 'HEAD'])
    return doneAt(await headOf(git), from, changed)
  }

  /**
   * Commits changes and returns the number of files, 0 when nothing changed. A string is the reason of a
   * failure.
   */
  async function commitChanges(message: string, paths: string[] | null): Promise<number | string> {
    const inside = paths?.map((path) => `:(top,literal)${path}`) ?? [':(top)']
    const added = await git(['add', '--all', '--', ...inside])
    if (!added.ok) {
      return /ignored by/.test(added.error)
        ? 'A path belongs to the files that are never committed.'
        : reasonOf(added.error)
    }
    // Unstages files of the platform even if somebody committed them earlier.
    await git(['reset', '--quiet', '--', ...neverCommitted])
    const staged = await git(['diff', '--cached', '--name-only', '-z'])
    const count = staged.output.split('\0').filter(Boolean).length
    if (count === 0) return 0
    const result = await git(['commit', '--quiet', '--file=-'], { input: message })
    return result.ok ? count : reasonOf(result.error)
  }

  async function pull({ branches, transfer, strategy }: Without<GitPull>): Promise<GitEnd> {
    const fetchFailure = await fetchBoth(git, branches, transfer)
    if (fetchFailure !== null) return failed(fetchFailure)
    const before = await headOf(git)
    if (strategy === 'force_reset') {
      const target = await upstreamOf(git, branches)
      const done = await git(['reset', '--quiet', '--hard', target ?? 'HEAD'])
      return done.ok ? resultSince(before) : failed(reasonOf(done.error))
    }
    const dirty = (await git(['status', '--porcelain=v1', '--untracked-files=no'])).output.trim() !== ''
    if (dirty && strategy === 'clean') {
      return conflict('uncommitted_changes', 'Files were changed and not committed.')
    }
    if (dirty) await git(['stash', 'push', '--quiet'])
    const failure = await rebase(branches)
    if (dirty) {
      const back = await git(['stash', 'pop', '--quiet'])
      if (!back.ok) {
        await git(['reset', '--quiet', '--hard'])
        return conflict(
          'stash_conflict',
          'The uncommitted changes conflict with the new commits; they are in the stash.',
        )
      }
    }
    return failure ?? resultSince(before)
  }

  /** Returns null on success. Conflicts are never resolved automatically: the branch stays as it was. */
  async function rebase(branches: GitBranches): Promise<GitEnd | null> {
    const target = await upstreamOf(git, branches)
    if (target === null) return null
    const done = await git(['rebase', '--quiet', target])
    if (done.ok) return null
    await git(['rebase', '--abort'])
    if (/unstaged changes|uncommitted changes|would be overwritten/.test(done.error)) {
      return conflict('uncommitted_changes', 'Files were changed and not committed.')
    }
    return conflict('rebase_conflict', 'Commits of the agent and of the remote change the same lines.')
  }

  async function resultSince(before: string | null): Promise<GitEnd> {
    const now = await headOf(git)
    if (before === null || now === null || before === now) return doneAt(now, before, 0)
    const { output } = await git(['diff', '--name-only', '-z', before, now])
    return doneAt(now, before, output.split('\0').filter(Boolean).length)
  }

  return {
    look: ({ branches, transfer }) =>
      inTurn(async () => {
        const isPresent = await isRepository(home)
        const reason = transfer && isPresent ? await fetchBoth(git, branches, transfer) : null
        return { state: await readState(git, home, branches), failed: reason }
      }),
    log: (limit) =>
      inTurn(async () => ({ commits: (await isRepository(home)) ? await readLog(git, limit) : [] })),
    change: (call) => inTurn(() => readChange(call)),
    bind: (call) => inTurn(async () => withState(call.branches, await bind(call))),
    sync: (call) =>
      inTurn(async () => withState(call.branches, await withCommittedIgnore(git, home, () => sync(call)))),
    pull: (call) =>
      inTurn(async () => withState(call.branches, await withCommittedIgnore(git, home, () => pull(call)))),
    initialize: (call) => inTurn(async () => withState(call.branches, await initialize(call))),
    reset: (call) =>
      inTurn(async () => {
        const { end, ...details } = await withCommittedIgnore(git, home, () => reset(call))
        return { ...(await withState(call.branches, end)), ...details }
      }),
  }
}

function branchOf({ working, source, source_mode }: GitBranches): string {
  return source_mode ? source : working
}

/** Adds `excludedPaths` to git's own exclude list; `.gitignore` belongs to the agent. Returns false if it cannot. */
async function exclude(home: string): Promise<boolean> {
  return editPlainFile(home, '.git/info/exclude', (text) => {
    const present = new Set(text.split('\n'))
    const missing = excludedPaths.map((name) => `/${name}`).filter((line) => !present.has(line))
    return missing.length > 0 ? `${text}${missing.join('\n')}\n` : text
  })
}

function doneAt(now: string | null, from: string | null, files_changed: number): GitEnd {
  const moved = from === null || from === now ? {} : { from_sha: from }
  return { outcome: 'done', commit_sha: now, files_changed, ...moved }
}

function conflict(kind: GitConflict, message: string): GitEnd {
  return { outcome: 'conflict', conflict: kind, message }
}
