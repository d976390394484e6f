import { join } from 'node:path'
import { Rejected } from './config-values.ts'
import { type Variable, variables } from './config-variables.ts'
import { type Secret, secret } from './kit/secret.ts'

/** One wrong value. The rejected value is not repeated: it may be a secret. */
export type ConfigProblem = { name: string; message: string }

/** Names every variable whose value cannot work. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[]
  constructor(problems: ConfigProblem[]) {
    super(`Wrong configuration:\n${problems.map(({ name, message }) => `  ${name} ${message}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

type Parsed = { readonly [Key in keyof typeof variables]: ReturnType<(typeof variables)[Key]['parse']> }

/** The environment as values. Whatever may hold a password or a key is a `Secret`. */
export type Config = Omit<Parsed, 'databaseUrl' | 'baseUrl'> &
  Readonly<{ databaseUrl: Secret; baseUrl: string }>

/** Reads the environment once; the result is frozen. Throws `ConfigError` with everything that is wrong. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const problems: ConfigProblem[] = []
  const entries = Object.entries<Variable<unknown>>(variables).map(([key, variable]) => {
    const { name, text } = written(variable, env)
    if (text === null) return [key, null]
    try {
      return [key, variable.parse(text)]
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
      problems.push({ name, message: error.message })
      return [key, null]
    }
  })
  if (problems.length > 0) throw new ConfigError(problems)
  // Each key holds what the variable of that key parsed.
  const parsed = Object.fromEntries(entries) as Parsed
  return Object.freeze({
    ...parsed,
    databaseUrl: parsed.databaseUrl ?? secret(`sqlite:${join(parsed.dataDir, 'roost.db')}`),
    baseUrl: parsed.baseUrl ?? `http://localhost:${parsed.port}`,
  })
}

/** The page `docs/reference/config.md`. */
export function configReference(): string {
  const rows = Object.values<Variable<unknown>>(variables).map(
    ({ name, alias, description, ...variable }) => {
      const names = [name, ...(alias ? [alias] : [])].map((each) => `\`${each}\``).join(', ')
      const fallback = variable.defaultWords ?? (variable.default ? `\`${variable.default}\`` : 'none')
      return `| ${names} | ${fallback} | ${description} |`
    },
  )
  return [
    '# Configuration',
    '',
    'Environment variables, read once when a process starts; an empty value counts as not set. A value that',
    'cannot work ends the process with exit code 78 and a list of everything that is wrong.',
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** An empty value counts as not set. */
function written(variable: Variable<unknown>, env: Record<string, string | undefined>) {
  for (const name of [variable.name, variable.alias]) {
    const text = name === undefined ? '' : (env[name]?.trim() ?? '')
    if (name !== undefined && text !== '') return { name, text }
  }
  return { name: variable.name, text: variable.default }
}
