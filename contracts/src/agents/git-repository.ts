import { z } from 'zod'
import { SetGitToken } from '../identity/git-token.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'

const tag = 'Git'
const path = '/api/agents/{name}'
const byPeople = { tag, access: { who: 'owner', gate: 'person' }, params: AgentParams } as const
const requestFails = ['agent_not_found', 'agent_stopped', 'agent_unresponsive', 'upstream_error'] as const

/** Name of an account at the git host. */
const Owner = z
  .string()
  .trim()
  .max(100)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/, 'must be an account name of the git host')
const RepositoryName = z
  .string()
  .trim()
  .max(100)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, 'must be a repository name')
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
  create_repo: z.boolean().default(true).describe('Create the repository if it does not exist.'),
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
  summary: 'Bind an agent to its first repository and push the workspace',
  description:
    'An empty repository gets the workspace as its first commit. In a repository with commits, the agent works on its own branch.',
  body: InitializeGit,
  returns: InitializedGit,
  fails: [...requestFails, 'already_exists', 'agent_busy', 'sync_in_progress', 'not_found', 'not_configured'],
  audit: { type: 'git_operation', action: 'initialize' },
})

export const BindToOwnRepository = z.object({
  destination_repo: Destination,
  github_pat: SetGitToken.shape.pat.nullish().describe('Becomes the agent’s own token.'),
  private: z.boolean().default(true).describe('Applies when the repository is created.'),
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
  summary: 'Bind an agent to its own repository instead of the current one',
  tag,
  access: { who: 'owner', gate: 'human' },
  params: AgentParams,
  body: BindToOwnRepository,
  returns: BoundToOwnRepository,
  fails: [...requestFails, 'agent_busy', 'sync_in_progress', 'not_configured', 'human_only'],
  audit: { type: 'git_operation', action: 'bind_to_own_repo' },
})

export const gitTokenSources = ['agent', 'user', 'platform', 'none'] as const
/** `configured`: the agent has its own token. `source`: whose token is used. */
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
  summary: 'The source of the git token of an agent',
  returns: AgentGitTokenStatus,
  fails: ['agent_not_found'],
})
export const putAgentGitToken = endpoint({
  ...byPeople,
  id: 'putAgentGitToken',
  method: 'PUT',
  path: `${path}/github-pat`,
  summary: 'Set the agent’s own token for the git host; it is checked first',
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
  summary: 'Delete the agent’s own token for the git host',
  returns: AgentGitTokenStatus,
  fails: ['agent_not_found'],
  audit: { type: 'credentials', action: 'delete_agent_git_token' },
})

export const ResetToMain = z.object({
  success: z.literal(true),
  snapshot_dir: z.string().nullable().describe('Folder in the workspace with every changed file.'),
  commit_sha: z.string().nullable(),
  files_preserved: z.array(z.string()).describe('At most 500 names.'),
  working_branch: z.string(),
})
export type ResetToMain = z.output<typeof ResetToMain>

export const resetToMain = endpoint({
  ...byPeople,
  id: 'resetToMain',
  method: 'POST',
  strict: true,
  path: `${path}/git/reset-to-main-preserve-state`,
  summary: 'Reset the workspace to the source branch and keep the agent’s output',
  description:
    'Keeps `content`, `output`, `reports`, `exports`, `uploads`, `memory`, `metrics.json` and files that are never committed. Force-pushes the working branch; its previous files are kept in the workspace.',
  returns: ResetToMain,
  fails: [...requestFails, 'git_not_configured', 'git_conflict', 'agent_busy', 'sync_in_progress'],
  audit: { type: 'git_operation', action: 'reset_to_main_preserve_state' },
})
