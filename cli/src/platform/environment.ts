import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'

/** Names of the variables that hold a model provider's key, and where its traffic can be sent instead. */
export const providers = [
  { name: 'Anthropic', key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL', path: '' },
  { name: 'Google', key: 'GEMINI_API_KEY', baseUrl: 'GOOGLE_GEMINI_BASE_URL', path: '' },
  { name: 'OpenAI', key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL', path: '/v1' },
] as const

/** The variables of a `.env` file; empty when there is none. */
export async function readDotenv(path: string): Promise<NodeJS.ProcessEnv> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  return parseEnv(text)
}

export type EnvironmentSources = {
  /** What the shell gave: it wins, but an empty value counts as not set. */
  shell: NodeJS.ProcessEnv
  dotenv: NodeJS.ProcessEnv
  /** What the command line says, above both. */
  options: NodeJS.ProcessEnv
  /** A relative data folder from the shell or the command line is meant from here … */
  cwd: string
  /** … one from `.env`, and the default, from the project folder. */
  root: string
}

/** The environment of the platform's processes; `ROOST_DATA_DIR` in it is always set and absolute. */
export function platformEnvironment(
  sources: EnvironmentSources,
): NodeJS.ProcessEnv & { ROOST_DATA_DIR: string } {
  const { dotenv, cwd, root } = sources
  const shell = withoutEmpty(sources.shell)
  const options = withoutEmpty(sources.options)
  const near = options.ROOST_DATA_DIR ?? shell.ROOST_DATA_DIR
  const dataDir = near ? resolve(cwd, near) : resolve(root, dotenv.ROOST_DATA_DIR || 'data')
  return { ...withoutEmpty(dotenv), ...shell, ...options, ROOST_DATA_DIR: dataDir }
}

/** Where the platform's public listener can be reached on this machine. */
export function publicListener(env: NodeJS.ProcessEnv): { host: string; port: number } {
  const host = env.ROOST_HOST ?? '127.0.0.1'
  return {
    host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host,
    port: Number(env.ROOST_PORT ?? 8000),
  }
}

/** The names of the providers whose key is set. */
export function providersWithKey(env: NodeJS.ProcessEnv): string[] {
  return providers.filter(({ key }) => env[key]).map(({ name }) => name)
}

/** What points every provider at a scripted model server. */
export function demoEnvironment(modelUrl: string): NodeJS.ProcessEnv {
  return Object.fromEntries(
    providers.flatMap(({ key, baseUrl, path }) => [
      [key, 'demo-key-of-the-scripted-model-server'],
      [baseUrl, `${modelUrl}${path}`],
    ]),
  )
}

function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  )
}
