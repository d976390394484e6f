import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'

/** Variables of each model provider: its key, and the base URL that redirects its traffic. */
export const providers = [
  { name: 'Anthropic', key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL', path: '' },
  { name: 'Google', key: 'GEMINI_API_KEY', baseUrl: 'GOOGLE_GEMINI_BASE_URL', path: '' },
  { name: 'OpenAI', key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL', path: '/v1' },
] as const

/** Reads the variables of a `.env` file; empty when the file is missing. */
export async function readDotenv(path: string): Promise<NodeJS.ProcessEnv> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  return parseEnv(text)
}

export type EnvironmentSources = {
  /** Overrides `.env`; an empty value counts as not set. */
  shell: NodeJS.ProcessEnv
  dotenv: NodeJS.ProcessEnv
  /** Options of the command line; they override both. */
  options: NodeJS.ProcessEnv
  /** Base of a relative data folder from the shell or the command line. */
  cwd: string
  /** The project folder: base of a relative data folder from `.env`, and of the default. */
  root: string
}

/** The environment of the platform's processes; `ROOST_DATA_DIR` in it is always set and absolute. */
export function platformEnvironment(
  sources: EnvironmentSources,
): NodeJS.ProcessEnv & { ROOST_DATA_DIR: string } {
  const { dotenv, cwd, root } = sources
  const shell = withoutEmpty(sources.shell)
  const options = withoutEmpty(sources.options)
  const explicit = options.ROOST_DATA_DIR ?? shell.ROOST_DATA_DIR
  const dataDir = explicit ? resolve(cwd, explicit) : resolve(root, dotenv.ROOST_DATA_DIR || 'data')
  return { ...withoutEmpty(dotenv), ...shell, ...options, ROOST_DATA_DIR: dataDir }
}

/** Returns the address of the platform's public listener as seen from this machine. */
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

/** Returns the variables that redirect every provider to the scripted model server, and request the demo data. */
export function demoEnvironment(modelUrl: string): NodeJS.ProcessEnv {
  return Object.fromEntries([
    ['ROOST_DEMO', 'true'],
    ...providers.flatMap(({ key, baseUrl, path }) => [
      [key, 'demo-key-of-the-scripted-model-server'],
      [baseUrl, `${modelUrl}${path}`],
    ]),
  ])
}

function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  )
}
