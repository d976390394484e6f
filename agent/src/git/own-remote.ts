import type { GitBranches, GitEnd, GitInitialize } from '@roost/contracts/link/git'
import type { RunGit } from './run.ts'
import { failed, fetchBoth, headOf, reasonOf, seenAt } from './state.ts'

export type OwnRemoteTools = {
  git: RunGit
  /** The workspace becomes a repository of this remote, if it is none yet. */
  prepare(branch: string, remoteUrl: string): Promise<GitEnd | null>
  /** The branch begins where the remote's does; files stay as they are. */
  beginAt(branches: GitBranches, commit: string | null): Promise<GitEnd | null>
  commit(message: string): Promise<number | string>
}

/** Makes the workspace a repository of a remote of its own, and brings it there. */
export function createOwnRemote({ git, prepare, beginAt, commit }: OwnRemoteTools) {
  return async ({ branches, transfer, remote_url, message }: Omit<GitInitialize, 't'>): Promise<GitEnd> => {
    const { working, source } = branches
    const unprepared = await prepare(working, remote_url)
    if (unprepared) return unprepared
    await forgetRemote(git)
    const heads = await git(['ls-remote', '--heads', '--', transfer.url], { transfer })
    if (!heads.ok) return failed(reasonOf(heads.error))
    const isEmpty = heads.output.trim() === ''
    const stopped = isEmpty ? await beginHere(git, working) : await beginThere()
    if (stopped) return stopped
    const changed = await commit(message)
    if (typeof changed === 'string') return failed(changed)
    if ((await headOf(git)) === null) await git(['commit', '--quiet', '--allow-empty', '-m', message])
    const targets = isEmpty ? [source, working] : [working]
    const specs = targets.map((branch) => `HEAD:refs/heads/${branch}`)
    const pushed = await git(['push', '--quiet', '--', transfer.url, ...specs], { transfer })
    if (!pushed.ok) return failed(reasonOf(pushed.error))
    for (const branch of targets) await git(['update-ref', seenAt(branch), 'HEAD'])
    return { outcome: 'done', commit_sha: await headOf(git), files_changed: changed }

    async function beginThere(): Promise<GitEnd | null> {
      const away = await fetchBoth(git, branches, transfer)
      return away === null ? beginAt(branches, null) : failed(away)
    }
  }
}

/** What was seen of another remote says nothing of this one. */
async function forgetRemote(git: RunGit): Promise<void> {
  const { output } = await git(['for-each-ref', '--format=%(refname)', 'refs/remotes/origin'])
  for (const ref of output.split('\n').filter(Boolean)) await git(['update-ref', '-d', ref])
}

/** The agent's own commits, if there are any, are where the branch begins. */
async function beginHere(git: RunGit, branch: string): Promise<GitEnd | null> {
  const here = await headOf(git)
  if (here !== null) await git(['update-ref', `refs/heads/${branch}`, here])
  const turned = await git(['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  return turned.ok ? null : failed(reasonOf(turned.error))
}
