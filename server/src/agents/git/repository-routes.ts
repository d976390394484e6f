import {
  bindToOwnRepository,
  deleteAgentGitToken,
  getAgentGitToken,
  initializeGit,
  putAgentGitToken,
  resetToMain,
} from '@roost/contracts/agents/git-repository'
import { agentRoute, type Route } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { AgentGit } from './service.ts'
import type { AgentGitTokens } from './tokens.ts'

export type RepositoryRouteDeps = {
  git: Pick<AgentGit, 'initialize' | 'bindToOwn' | 'reset' | 'tokenChanged'>
  tokens: AgentGitTokens
  agentRecords: Pick<AgentRecords, 'byId'>
}

export function repositoryRoutes({ git, tokens, agentRecords }: RepositoryRouteDeps): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)

  return [
    agentRoute(initializeGit, async (call) => {
      const { repo_owner, repo_name, create_repo, private: isPrivate, description = null } = call.body
      const repository = `${repo_owner}/${repo_name}`
      call.request.note({ repository })
      const options = { repository, mayCreate: create_repo, isPrivate, description }
      return git.initialize(await agentOf(call), options)
    }),
    agentRoute(bindToOwnRepository, async (call) => {
      const { destination_repo: repository, github_pat = null, private: isPrivate } = call.body
      call.request.note({ repository, has_token: github_pat !== null })
      const options = { repository, mayCreate: true, isPrivate, description: null }
      return git.bindToOwn(await agentOf(call), options, github_pat)
    }),
    agentRoute(getAgentGitToken, async (call) => tokens.status(await agentOf(call))),
    agentRoute(putAgentGitToken, async (call) => {
      const agent = await agentOf(call)
      await tokens.check(call.body.pat, 'pat')
      await tokens.put(agent.id, call.body.pat)
      await git.tokenChanged(agent.id)
      return tokens.status(agent)
    }),
    agentRoute(deleteAgentGitToken, async (call) => {
      const agent = await agentOf(call)
      await tokens.remove(agent.id)
      await git.tokenChanged(agent.id)
      return tokens.status(agent)
    }),
    agentRoute(resetToMain, async (call) => {
      const done = await git.reset(await agentOf(call))
      call.request.note({ commit_sha: done.commit_sha, snapshot_dir: done.snapshot_dir })
      return done
    }),
  ]
}
