import { getGitLog, getGitStatus, getGitSyncState, pullGit, syncGit } from '@roost/contracts/agents/git'
import { initializeGit, resetToMain } from '@roost/contracts/agents/git-repository'
import { bodyOf, described, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, words } from './parameters.ts'

export const gitTools: Tool[] = [
  tool({
    name: 'get_git_status',
    description:
      "The state of an agent's workspace against its git repository: branch, changes, commits ahead and behind.",
    audience: 'everyone',
    effect: 'read',
    requests: [request(getGitStatus)],
    input: { agent_name: agentName },
    run: (call, { agent_name }) => call.api.call(getGitStatus, { params: { name: agent_name } }),
  }),
  tool({
    name: 'get_git_sync_state',
    description: "The results of an agent's last git syncs, and whether failures have frozen its schedules.",
    audience: 'everyone',
    effect: 'read',
    requests: [request(getGitSyncState)],
    input: { agent_name: agentName },
    run: (call, { agent_name }) => call.api.call(getGitSyncState, { params: { name: agent_name } }),
  }),
  tool({
    name: 'get_git_log',
    description: "The newest commits of an agent's workspace.",
    audience: 'everyone',
    effect: 'read',
    requests: [request(getGitLog)],
    input: { agent_name: agentName, ...described(queryOf(getGitLog), { limit: words.limit }) },
    run: (call, { agent_name, ...query }) =>
      call.api.call(getGitLog, { params: { name: agent_name }, query }),
  }),
  tool({
    name: 'git_sync',
    description:
      "Commit the changes in an agent's workspace and push them to its working branch. Conflicts are never resolved automatically: try pull_first, or look at the conflict.",
    audience: 'everyone',
    effect: 'write',
    requests: [request(syncGit)],
    input: {
      agent_name: agentName,
      ...described(bodyOf(syncGit), {
        message: 'The commit message.',
        paths: 'Commit only these paths. Defaults to all changes.',
      }),
    },
    run: (call, { agent_name, ...body }) => call.api.call(syncGit, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'git_pull',
    description: "Pull the changes of the remote into an agent's workspace.",
    audience: 'everyone',
    effect: 'write',
    requests: [request(pullGit)],
    input: { agent_name: agentName, ...bodyOf(pullGit) },
    run: (call, { agent_name, ...body }) => call.api.call(pullGit, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'initialize_github_sync',
    description:
      'Connect an agent without a repository to one, and push its workspace there. An empty repository gets the workspace as its first commit; otherwise the agent works on a branch of its own.',
    audience: 'person',
    effect: 'write',
    requests: [request(initializeGit)],
    input: { agent_name: agentName, ...bodyOf(initializeGit) },
    run: (call, { agent_name, ...body }) =>
      call.api.call(initializeGit, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'reset_to_main_preserve_state',
    description:
      "Reset an agent's workspace to the source branch and keep what the agent made (content, output, reports, exports, uploads, memory). Changed files are backed up in a folder; the working branch is force-pushed. Needs the key of a person.",
    audience: 'everyone',
    effect: 'write',
    requests: [request(resetToMain)],
    input: { agent_name: agentName },
    run: (call, { agent_name }) => call.api.call(resetToMain, { params: { name: agent_name } }),
  }),
]
