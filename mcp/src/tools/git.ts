import { getGitLog, getGitStatus, getGitSyncState, pullGit, syncGit } from '@roost/contracts/agents/git'
import { InitializeGit, initializeGit, resetToMain } from '@roost/contracts/agents/git-repository'
import { pullStrategies, syncStrategies } from '@roost/contracts/link/git'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

export const gitTools: Tool[] = [
  tool({
    name: 'get_git_status',
    description:
      "How an agent's workspace stands to its git repository: branch, changes, commits ahead and behind.",
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName },
    run: (call, { agent_name }) => call.api.call(getGitStatus, { params: { name: agent_name } }),
  }),
  tool({
    name: 'get_git_sync_state',
    description: "How an agent's git syncs went lately, and whether its schedules are frozen for that.",
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName },
    run: (call, { agent_name }) => call.api.call(getGitSyncState, { params: { name: agent_name } }),
  }),
  tool({
    name: 'get_git_log',
    description: "The newest commits of an agent's workspace.",
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName, limit: z.number().int().min(1).max(100).default(10) },
    run: (call, { agent_name, limit }) =>
      call.api.call(getGitLog, { params: { name: agent_name }, query: { limit } }),
  }),
  tool({
    name: 'git_sync',
    description:
      "Commit what has changed in an agent's workspace and push it to its working branch. A conflict is never resolved by itself: try pull_first, or look at it.",
    audience: 'everyone',
    effect: 'write',
    input: {
      agent_name: agentName,
      message: z.string().min(1).max(2000).optional(),
      paths: z.array(z.string()).min(1).max(500).optional().describe('Only these; everything when left out.'),
      strategy: z.enum(syncStrategies).optional(),
    },
    run: (call, { agent_name, ...body }) => call.api.call(syncGit, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'git_pull',
    description: "Bring what the remote has into an agent's workspace.",
    audience: 'everyone',
    effect: 'write',
    input: { agent_name: agentName, strategy: z.enum(pullStrategies).optional() },
    run: (call, { agent_name, ...body }) => call.api.call(pullGit, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'initialize_github_sync',
    description:
      "Give an agent without a repository one, and push its workspace there. An empty repository begins with the workspace; one that has commits is joined on a branch of the agent's own.",
    audience: 'person',
    effect: 'write',
    input: { agent_name: agentName, ...InitializeGit.shape },
    run: (call, { agent_name, ...body }) =>
      call.api.call(initializeGit, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'reset_to_main_preserve_state',
    description:
      "Make an agent's workspace what the source branch is, and keep what the agent has made (content, output, reports, exports, uploads, memory). Every file that was changed is kept in a folder; the working branch is pushed by force. A key of a person is needed.",
    audience: 'everyone',
    effect: 'write',
    input: { agent_name: agentName },
    run: (call, { agent_name }) => call.api.call(resetToMain, { params: { name: agent_name } }),
  }),
]
