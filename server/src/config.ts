import { join } from 'node:path'
import { Rejected } from './config-values.ts'
import { type Variable, variables } from './config-variables.ts'
import { type Secret, secret } from './kit/secret.ts'

/** An invalid value. Does not contain the value, which may be a secret. */
export type ConfigProblem = { name: string; message: string }

/** Names every variable with an invalid value. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[]
  constructor(problems: ConfigProblem[]) {
    super(`Wrong configuration:\n${problems.map(({ name, message }) => `  ${name} ${message}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

type Parsed = { readonly [Key in keyof typeof variables]: ReturnType<(typeof variables)[Key]['parse']> }

/** The parsed environment. Values that can contain a password or key are a `Secret`. */
export type Config = Omit<Parsed, 'databaseUrl' | 'baseUrl'> &
  Readonly<{ databaseUrl: Secret; baseUrl: string }>

/** Parses the environment into a frozen object. Throws `ConfigError` with all problems. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const problems: ConfigProblem[] = []
  const entries = Object.entries<Variable<unknown>>(variables).map(([key, variable]) => {
    const { name, text } = readVariable(variable, env)
    if (text === null) return [key, null]
    try {
      return [key, variable.parse(text)]
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
      problems.push({ name, message: error.message })
      return [key, null]
    }
  })
  // Each key has the value that its variable parsed.
  const parsed = Object.fromEntries(entries) as Parsed
  problems.push(...tlsProblems(parsed))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze({
    ...parsed,
    databaseUrl: parsed.databaseUrl ?? secret(`sqlite:${join(parsed.dataDir, 'roost.db')}`),
    baseUrl: parsed.baseUrl ?? `${parsed.tlsCert === null ? 'http' : 'https'}://localhost:${parsed.port}`,
  })
}

function tlsProblems({ tlsCert, tlsKey, baseUrl }: Parsed): ConfigProblem[] {
  if (tlsCert === null && tlsKey === null) return []
  if (tlsKey === null) return [{ name: 'ROOST_TLS_KEY', message: 'is missing: ROOST_TLS_CERT needs it' }]
  if (tlsCert === null) return [{ name: 'ROOST_TLS_CERT', message: 'is missing: ROOST_TLS_KEY needs it' }]
  if (baseUrl?.startsWith('http:'))
    return [{ name: 'ROOST_BASE_URL', message: 'must start with https:// when ROOST_TLS_CERT is set' }]
  return []
}

/** The page `docs/reference/config.md`. */
export function configReference(): string {
  const rows = Object.values<Variable<unknown>>(variables).map(
    ({ name, alias, description, ...variable }) => {
      const names = [name, ...(alias ? [alias] : [])].map((each) => `\`${each}\``).join(', ')
      const fallback = variable.defaultText ?? (variable.default ? `\`${variable.default}\`` : 'none')
      return `| ${names} | ${fallback} | ${description} |`
    },
  )
  return [
    '# Configuration',
    '',
    'Environment variables, read once when a process starts. An empty value counts as not set. With invalid values the',
    'process exits with code 78 and lists all problems.',
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** An empty value counts as not set. */
function readVariable(variable: Variable<unknown>, env: Record<string, string | undefined>) {
  for (const name of [variable.name, variable.alias]) {
    const text = name === undefined ? '' : (env[name]?.trim() ?? '')
    if (name !== undefined && text !== '') return { name, text }
  }
  return { name: variable.name, text: variable.default }
}
