import type { GitBranches, GitEnd, GitInitialize } from '@roost/contracts/link/git'
import type { RunGit } from './run.ts'
import { failed, fetchBoth, headOf, reasonOf, remoteRef } from './state.ts'

export type OwnRemoteTools = {
  git: RunGit
  /** Makes the workspace a repository of this remote unless it is one already. */
  prepare(branch: string, remoteUrl: string): Promise<GitEnd | null>
  /** Starts the branch at the remote's commit; files stay unchanged. */
  startAt(branches: GitBranches, commit: string | null): Promise<GitEnd | null>
  commit(message: string): Promise<number | string>
}

/** Makes the workspace a repository with its own remote and pushes it there. */
export function createOwnRemote({ git, prepare, startAt, commit }: OwnRemoteTools) {
  return async ({ branches, transfer, remote_url, message }: Omit<GitInitialize, 't'>): Promise<GitEnd> => {
    const { working, source } = branches
    const prepareFailure = await prepare(working, remote_url)
    if (prepareFailure) return prepareFailure
    await forgetRemote(git)
    const heads = await git(['ls-remote', '--heads', '--', transfer.url], { transfer })
    if (!heads.ok) return failed(reasonOf(heads.error))
    const isEmpty = heads.output.trim() === ''
    const failure = isEmpty ? await startEmpty(git, working) : await startFromRemote()
    if (failure) return failure
    const changed = await commit(message)
    if (typeof changed === 'string') return failed(changed)
    if ((await headOf(git)) === null) {
      await git(['commit', '--quiet', '--allow-empty', '--file=-'], { input: message })
    }
    const targets = isEmpty ? [source, working] : [working]
    const specs = targets.map((branch) => `HEAD:refs/heads/${branch}`)
    const pushed = await git(['push', '--quiet', '--', transfer.url, ...specs], { transfer })
    if (!pushed.ok) return failed(reasonOf(pushed.error))
    for (const branch of targets) await git(['update-ref', remoteRef(branch), 'HEAD'])
    return { outcome: 'done', commit_sha: await headOf(git), files_changed: changed }

    async function startFromRemote(): Promise<GitEnd | null> {
      const fetchFailure = await fetchBoth(git, branches, transfer)
      return fetchFailure === null ? startAt(branches, null) : failed(fetchFailure)
    }
  }
}

/** Refs of a previous remote are invalid for this one. */
async function forgetRemote(git: RunGit): Promise<void> {
  const { output } = await git(['for-each-ref', '--format=%(refname)', 'refs/remotes/origin'])
  for (const ref of output.split('\n').filter(Boolean)) await git(['update-ref', '-d', ref])
}

/** The branch starts at the agent's own commits, if there are any. */
async function startEmpty(git: RunGit, branch: string): Promise<GitEnd | null> {
  const here = await headOf(git)
  if (here !== null) await git(['update-ref', `refs/heads/${branch}`, here])
  const turned = await git(['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  return turned.ok ? null : failed(reasonOf(turned.error))
}
