import { namesVariable, suppressedVariables } from '@roost/contracts/link/credentials'

/** Environment variables of a child process. */
export type Environment = Record<string, string>

/** Variables of this program that children must not inherit: its key, provider settings and Node settings. */
const withheld = [
  /^(ANTHROPIC|CLAUDE|GEMINI|GOOGLE|OPENAI|CODEX|OTEL|ROOST|NODE)_/,
  /^(CLAUDECODE|GITHUB_PAT|IS_SANDBOX)$/,
]

export type EnvironmentParts = {
  /** The environment of this program. */
  own: Readonly<Record<string, string | undefined>>
  /** The workspace's `.env`. */
  workspace: Readonly<Record<string, string>>
  /** Proxy variables for egress through the platform; empty without a proxy. */
  egress?: Readonly<Record<string, string>>
  home: string
  /** Folder for temporary files; null keeps this program's. */
  temporary?: string | null
  isRoot: boolean
  /** Final overrides; null removes a variable. */
  overrides: Readonly<Record<string, string | null>>
}

export function childEnvironment({
  own,
  workspace,
  egress = {},
  home,
  temporary = null,
  isRoot,
  overrides,
}: EnvironmentParts): Environment {
  const environment: Environment = {}
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && !withheld.some((pattern) => pattern.test(name))) environment[name] = value
  }
  for (const [name, value] of Object.entries(workspace)) {
    if (!namesVariable(suppressedVariables, name)) environment[name] = value
  }
  Object.assign(environment, egress, { HOME: home, ...sharedGit, ...(isRoot ? { IS_SANDBOX: '1' } : {}) })
  if (temporary !== null) environment.TMPDIR = temporary
  for (const [name, value] of Object.entries(overrides)) {
    if (value === null) delete environment[name]
    else environment[name] = value
  }
  return environment
}

/**
 * Several users work in the workspace. Git refuses repositories of other users by default, and would create
 * files that only one of them can change.
 */
const sharedGit = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
  GIT_CONFIG_KEY_1: 'core.sharedRepository',
  GIT_CONFIG_VALUE_1: 'group',
}
