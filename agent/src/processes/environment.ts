import { namesVariable, suppressedVariables } from '@roost/contracts/link/credentials'

/** Variables as a child gets them. */
export type Environment = Record<string, string>

/** Of the program's own environment: its key, its providers' settings and its Node's are not a child's. */
const withheld = [
  /^(ANTHROPIC|CLAUDE|GEMINI|GOOGLE|OPENAI|CODEX|OTEL|ROOST|NODE)_/,
  /^(CLAUDECODE|GITHUB_PAT|IS_SANDBOX)$/,
]

export type EnvironmentParts = {
  /** The environment of this program. */
  own: Readonly<Record<string, string | undefined>>
  /** The workspace's `.env`. */
  workspace: Readonly<Record<string, string>>
  /** How programs get out over the platform; empty when they go by themselves. */
  egress?: Readonly<Record<string, string>>
  home: string
  isRoot: boolean
  /** Over everything; null removes. */
  over: Readonly<Record<string, string | null>>
}

export function childEnvironment({
  own,
  workspace,
  egress = {},
  home,
  isRoot,
  over,
}: EnvironmentParts): Environment {
  const environment: Environment = {}
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && !withheld.some((pattern) => pattern.test(name))) environment[name] = value
  }
  for (const [name, value] of Object.entries(workspace)) {
    if (!namesVariable(suppressedVariables, name)) environment[name] = value
  }
  Object.assign(environment, egress, { HOME: home, ...safeGit, ...(isRoot ? { IS_SANDBOX: '1' } : {}) })
  for (const [name, value] of Object.entries(over)) {
    if (value === null) delete environment[name]
    else environment[name] = value
  }
  return environment
}

/** The workspace belongs to another user than the reader, and Git refuses to look at such. */
const safeGit = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' }
