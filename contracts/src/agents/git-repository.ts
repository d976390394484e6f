import { z } from 'zod'
import { SetGitToken } from '../identity/git-token.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'

const tag = 'Git'
const path = '/api/agents/{name}'
const byPeople = { tag, access: { who: 'owner', gate: 'person' }, params: AgentParams } as const
const asked = ['agent_not_found', 'agent_stopped', 'agent_unresponsive', 'upstream_error'] as const

/** Of an account at the git host, and of a repository there. */
const Owner = z
  .string()
  .trim()
  .max(100)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/, 'must be the name of an account at the git host')
const RepositoryName = z
  .string()
  .trim()
  .max(100)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, 'must be the name of a repository')
  .refine((text) => !text.endsWith('.git'), 'must not end in .git')
const Destination = z
  .string()
  .trim()
  .transform((text, context) => {
    const [owner, name, ...more] = text.split('/')
    if (more.length === 0 && Owner.safeParse(owner).success && RepositoryName.safeParse(name).success)
      return text
    context.addIssue({ code: 'custom', message: 'must be owner/repository' })
    return z.NEVER
  })

export const InitializeGit = z.object({
  repo_owner: Owner,
  repo_name: RepositoryName,
  create_repo: z.boolean().default(true).describe('Make it when it is not there.'),
  private: z.boolean().default(true),
  description: z.string().trim().max(300).nullish(),
})

export const InitializedGit = z.object({
  success: z.literal(true),
  message: z.string(),
  github_repo: z.string(),
  working_branch: z.string(),
  repo_url: z.string(),
})
export type InitializedGit = z.output<typeof InitializedGit>

export const initializeGit = endpoint({
  ...byPeople,
  id: 'initializeGit',
  method: 'POST',
  path: `${path}/git/initialize`,
  summary: 'Give an agent without a repository one, and push its workspace there',
  description:
    'An empty repository begins with the workspace; one that has commits is joined on a branch of the agent’s own.',
  body: InitializeGit,
  returns: InitializedGit,
  fails: [...asked, 'already_exists', 'agent_busy', 'sync_in_progress', 'not_found', 'not_configured'],
  audit: { type: 'git_operation', action: 'initialize' },
})

export const BindToOwnRepository = z.object({
  destination_repo: Destination,
  github_pat: SetGitToken.shape.pat.nullish().describe('Becomes the agent’s own token.'),
  private: z.boolean().default(true).describe('When it is made.'),
})

export const BoundToOwnRepository = z.object({
  agent_name: z.string(),
  github_repo: z.string(),
  previous_repo: z.string().nullable(),
  default_branch: z.string(),
  private: z.boolean(),
  created_repo: z.boolean(),
  reused_existing: z.boolean(),
  repo_url: z.string(),
  message: z.string(),
})
export type BoundToOwnRepository = z.output<typeof BoundToOwnRepository>

export const bindToOwnRepository = endpoint({
  id: 'bindToOwnRepository',
  method: 'POST',
  path: `${path}/git/bind-to-own-repo`,
  summary: 'Bind an agent to a repository of its own, in place of the one it has',
  tag,
  access: { who: 'owner', gate: 'human' },
  params: AgentParams,
  body: BindToOwnRepository,
  returns: BoundToOwnRepository,
  fails: [...asked, 'agent_busy', 'sync_in_progress', 'not_configured', 'human_only'],
  audit: { type: 'git_operation', action: 'bind_to_own_repo' },
})

export const gitTokenSources = ['agent', 'user', 'platform', 'none'] as const
/** `configured`: the agent has one of its own. `source`: whose is used. */
export const AgentGitTokenStatus = z.object({
  agent_name: z.string(),
  configured: z.boolean(),
  source: z.enum(gitTokenSources),
})
export type AgentGitTokenStatus = z.output<typeof AgentGitTokenStatus>

export const getAgentGitToken = endpoint({
  ...byPeople,
  id: 'getAgentGitToken',
  method: 'GET',
  path: `${path}/github-pat`,
  summary: 'With whose token an agent reads and writes its repository',
  returns: AgentGitTokenStatus,
  fails: ['agent_not_found'],
})
export const putAgentGitToken = endpoint({
  ...byPeople,
  id: 'putAgentGitToken',
  method: 'PUT',
  path: `${path}/github-pat`,
  summary: 'Give an agent a token of its own for the git host, which is asked first',
  body: SetGitToken,
  bodyLimit: 16 * 1024,
  returns: AgentGitTokenStatus,
  fails: ['agent_not_found', 'upstream_error'],
  audit: { type: 'credentials', action: 'put_agent_git_token' },
})
export const deleteAgentGitToken = endpoint({
  ...byPeople,
  id: 'deleteAgentGitToken',
  method: 'DELETE',
  path: `${path}/github-pat`,
  summary: 'Forget the agent’s own token for the git host',
  returns: AgentGitTokenStatus,
  fails: ['agent_not_found'],
  audit: { type: 'credentials', action: 'delete_agent_git_token' },
})

export const ResetToMain = z.object({
  success: z.literal(true),
  snapshot_dir: z.string().nullable().describe('Below the workspace: every file that was changed.'),
  commit_sha: z.string().nullable(),
  files_preserved: z.array(z.string()).describe('At most 500 are named.'),
  working_branch: z.string(),
})
export type ResetToMain = z.output<typeof ResetToMain>

export const resetToMain = endpoint({
  ...byPeople,
  id: 'resetToMain',
  method: 'POST',
  strict: true,
  path: `${path}/git/reset-to-main-preserve-state`,
  summary: 'Make the workspace what the source branch is, and keep what the agent has made',
  description:
    'What stays: `content`, `output`, `reports`, `exports`, `uploads`, `memory`, `metrics.json` and what is never committed. The working branch is pushed by force; what it had is kept in the workspace.',
  returns: ResetToMain,
  fails: [...asked, 'git_not_configured', 'git_conflict', 'agent_busy', 'sync_in_progress'],
  audit: { type: 'git_operation', action: 'reset_to_main_preserve_state' },
})
