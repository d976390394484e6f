import type { AgentGitTokenStatus } from '@roost/contracts/agents/git-repository'
import type { SealedColumn, SealedText, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { type Secret, secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import { type GitHost, GitHostDown } from '../../ports/git-host/port.ts'
import type { Agent } from '../records/index.ts'
import { gitStore } from './store.ts'

export type GitTokensDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
  host: Pick<GitHost, 'login'>
  /** The owner's own token. */
  ownGitTokenOf(userId: string): Promise<Secret | null>
  platformGitToken(): Secret | null
}

/** The token for an agent's repository: its own, else its owner's, else the platform's. */
export type AgentGitTokens = {
  of(agent: Pick<Agent, 'id' | 'owner_id'>): Promise<Secret | null>
  status(agent: Pick<Agent, 'id' | 'name' | 'owner_id'>): Promise<AgentGitTokenStatus>
  /** Throws `validation_error` if the host rejects the token, `upstream_error` if it is unreachable. */
  check(token: string, field: string): Promise<void>
  put(agentId: string, token: string): Promise<void>
  remove(agentId: string): Promise<void>
  /** Stores the token and returns a function that restores the previous one. */
  swap(agentId: string, token: string): Promise<() => Promise<void>>
}

const contextOf = (agentId: string) => `agent-git-token:${agentId}`

export function createAgentGitTokens(deps: GitTokensDeps): AgentGitTokens {
  const { db, clock, vault, host, ownGitTokenOf, platformGitToken } = deps

  async function own(agentId: string): Promise<Secret | null> {
    const sealed = await gitStore(db).sealedToken(agentId)
    return sealed === null ? null : secret(vault.open(sealed, contextOf(agentId)))
  }

  const write = (agentId: string, sealed: SealedText) =>
    gitStore(db).putToken({ agent_id: agentId, sealed, updated_at: timestamp(clock.now()) })
  const put = (agentId: string, token: string) => write(agentId, vault.seal(token, contextOf(agentId)))

  return {
    async of(agent) {
      return (await own(agent.id)) ?? (await ownGitTokenOf(agent.owner_id)) ?? platformGitToken()
    },

    async status({ id, name, owner_id }) {
      const view = (source: AgentGitTokenStatus['source']) => ({
        agent_name: name,
        configured: source === 'agent',
        source,
      })
      if ((await gitStore(db).sealedToken(id)) !== null) return view('agent')
      if ((await ownGitTokenOf(owner_id)) !== null) return view('user')
      return view(platformGitToken() === null ? 'none' : 'platform')
    },

    async check(token, field) {
      const login = await host.login(secret(token)).catch((cause: unknown) => {
        if (!(cause instanceof GitHostDown)) throw cause
        throw new Fault('upstream_error', 'The git host cannot be reached.', {}, { cause })
      })
      if (login === null) throw invalidField([field], 'the git host refuses this token')
    },

    put,
    remove: (agentId) => gitStore(db).removeToken(agentId),

    async swap(agentId, token) {
      const before = await gitStore(db).sealedToken(agentId)
      await put(agentId, token)
      return () => (before === null ? gitStore(db).removeToken(agentId) : write(agentId, before))
    },
  }
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'agent_git_tokens',
    column: 'sealed',
    key: ['agent_id'],
    context: ({ agent_id = '' }) => contextOf(agent_id),
  },
]
