import { readFile } from 'node:fs/promises'
import { internalSecret } from '@roost/contracts/kit/internal-secret'

/** Variables of the operating system, Node and the database client, which hold no secret of the platform's own. */
const systemVariables =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|TZ|TMPDIR|ROOST_BENCH_SESSION|(LC|LD|NODE|UV|MALLOC|SSL|PG)_?[A-Z0-9_]*)$/

/** Variables of the platform that each process reads. A process gets no others, so no key of a provider. */
const platformVariables = {
  scheduler: [
    'ROOST_CONTROL_URL',
    'ROOST_DATA_DIR',
    'ROOST_DATABASE_URL',
    'ROOST_INTERNAL_PORT',
    'ROOST_LOG_LEVEL',
    'ROOST_UPGRADE_AT_START',
  ],
  mcp: [
    'ROOST_API_URL',
    'ROOST_BASE_URL',
    'ROOST_CONTROL_URL',
    'ROOST_HOST',
    'ROOST_PORT',
    'ROOST_TLS_CERT',
    'ROOST_INTERNAL_PORT',
    'ROOST_MCP_HOST',
    'ROOST_MCP_HOST_NAMES',
    'ROOST_MCP_PORT',
    'ROOST_MCP_CHAT_TIMEOUT_MS',
    'ROOST_KEEPALIVE_SECONDS',
  ],
} as const

export type LimitedProcess = keyof typeof platformVariables

/** Returns the environment of a process that calls the platform: only what it reads, and the internal secret. */
export async function processEnvironment(
  name: LimitedProcess,
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  const names: readonly string[] = platformVariables[name]
  const passed = Object.entries(env).filter(([key]) => systemVariables.test(key) || names.includes(key))
  return { ...Object.fromEntries(passed), ROOST_INTERNAL_SECRET: await internalSecretOf(env) }
}

/** Throws if the encryption key cannot be read. */
export function internalSecretOf(env: NodeJS.ProcessEnv): Promise<string> {
  return internalSecret(env, (path) => readFile(path, 'utf8'))
}
