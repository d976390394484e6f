import type { GitLastChange } from '@roost/contracts/agents/git'
import type { GitEnd } from '@roost/contracts/link/git'
import { Fault } from '../../kit/fault.ts'
import { maskPiece, maskText } from '../../kit/mask-secrets.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Agent } from '../records/index.ts'
import type { Ask } from './ask.ts'
import type { GitPatch } from './store.ts'
import type { AgentGitRow } from './tables.ts'

export type LastChangeDeps = {
  ask: Ask
  rowOf(agent: Pick<Agent, 'id'>): Promise<AgentGitRow>
  /** The agent's known secrets, which are masked in the reply. */
  secretsOf(agentId: string): Promise<readonly string[]>
}

/** The columns to store after a push or pull that moved a branch; empty otherwise. */
export function changePatch(direction: 'push' | 'pull', end: GitEnd, at: string): GitPatch {
  if (end.outcome !== 'done' || end.from_sha === undefined || end.commit_sha === null) return {}
  return {
    change_direction: direction,
    change_from_sha: end.from_sha,
    change_to_sha: end.commit_sha,
    change_at: at,
  }
}

/** Throws `git_not_configured`, `agent_stopped`, `agent_unresponsive`. */
export function createLastChange({ ask, rowOf, secretsOf }: LastChangeDeps) {
  return async (agent: Agent): Promise<GitLastChange> => {
    const row = await rowOf(agent)
    const { change_from_sha: from_sha, change_to_sha: to_sha } = row
    const facts = { direction: row.change_direction, from_sha, to_sha, at: row.change_at }
    const empty = { ...facts, files: [], total_files: 0, hidden_files: 0, diff: '', truncated: false }
    if (from_sha === null || to_sha === null) {
      return { ...empty, reason: 'No sync and no pull has changed anything yet.' }
    }
    const answer = await ask(agent, 'git.change', { from_sha, to_sha }).catch((cause: unknown) => {
      if (!(cause instanceof LinkFault)) throw cause
      if (cause.code === 'unknown_message') return null
      throw new Fault('agent_unresponsive', `Agent ${agent.name} cannot read its repository.`, {}, { cause })
    })
    if (answer === null) {
      return { ...empty, reason: 'The agent’s program is older than the platform. Restart the agent.' }
    }
    const { found, ...change } = answer
    if (!found) {
      return {
        ...empty,
        reason: 'The commits are no longer in the workspace, because it was reset or cleaned up.',
      }
    }
    const secrets = (await secretsOf(agent.id)).flatMap(withLines)
    const clean = (text: string) => maskText(text, secrets)
    return {
      ...facts,
      ...change,
      files: change.files.map((file) => ({
        ...file,
        path: clean(file.path),
        previous_path: file.previous_path === null ? null : clean(file.previous_path),
      })),
      // A truncated text may end with the beginning of a secret.
      diff: change.truncated ? maskPiece(change.diff, secrets).masked : clean(change.diff),
      reason: null,
    }
  }
}

/** In a diff every line has a prefix, so a multi-line secret is matched line by line. */
function withLines(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line !== '')
  return lines.length > 1 ? [secret, ...lines] : [secret]
}
