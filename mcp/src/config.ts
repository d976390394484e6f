import { internalSecret } from '@roost/contracts/kit/internal-secret'

/** The configuration of the MCP server, read once from the environment. */
export type McpConfig = {
  host: string
  port: number
  /** The public listener of the API. On loopback it takes HTTP also where it serves HTTPS. No trailing slash. */
  apiUrl: string
  /** The internal listener of the API on this machine, or its control listener. No trailing slash. */
  internalUrl: string
  /** Credential on the internal listener. */
  internalSecret: string
  /** The public address of the platform. */
  baseUrl: string
  /** Further host names under which clients reach this server. */
  hostNames: readonly string[]
  waitSeconds: number
  /** Silence after which an open stream sends something. */
  keepaliveSeconds: number
  version: string
}

export class McpConfigError extends Error {}

/** Throws `McpConfigError` naming the variable and its rule. */
export async function parseMcpConfig(
  env: NodeJS.ProcessEnv,
  version: string,
  readFile: (path: string) => Promise<string>,
): Promise<McpConfig> {
  const apiPort = integer(env, 'ROOST_PORT', 8000, 1, 65_535)
  const internalPort = integer(env, 'ROOST_INTERNAL_PORT', 8001, 1, 65_535)
  const waitMs = integer(env, 'ROOST_MCP_CHAT_TIMEOUT_MS', 25_000, 1_000, 3_600_000)
  const apiListenHost = env.ROOST_HOST?.trim() || '127.0.0.1'
  const isWildcard = apiListenHost === '0.0.0.0' || apiListenHost === '::'
  const apiHost = isWildcard ? '127.0.0.1' : apiListenHost
  return {
    host: env.ROOST_MCP_HOST?.trim() || '127.0.0.1',
    port: integer(env, 'ROOST_MCP_PORT', 8080, 0, 65_535),
    apiUrl:
      url(env, 'ROOST_API_URL') ?? `http://${apiHost.includes(':') ? `[${apiHost}]` : apiHost}:${apiPort}`,
    internalUrl: url(env, 'ROOST_CONTROL_URL') ?? `http://127.0.0.1:${internalPort}`,
    internalSecret: await internalSecret(env, readFile).catch(refuseUnreadableKey),
    baseUrl:
      env.ROOST_BASE_URL?.trim() || `${env.ROOST_TLS_CERT?.trim() ? 'https' : 'http'}://localhost:${apiPort}`,
    keepaliveSeconds: integer(env, 'ROOST_KEEPALIVE_SECONDS', 15, 1, 50),
    hostNames: (env.ROOST_MCP_HOST_NAMES ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    waitSeconds: Math.max(1, Math.round(waitMs / 1000)),
    version,
  }
}

/** Null if it is not set. */
function url(env: NodeJS.ProcessEnv, name: string): string | null {
  const text = env[name]?.trim()
  if (!text) return null
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text))
    throw new McpConfigError(`${name} must start with http:// or https://.`)
  return text.replace(/\/+$/, '')
}

function integer(env: NodeJS.ProcessEnv, name: string, fallback: number, min: number, max: number): number {
  const text = env[name]?.trim()
  if (!text) return fallback
  const value = Number(text)
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new McpConfigError(`${name} must be an integer from ${min} to ${max}, not "${text}".`)
  }
  return value
}

/** Not a configuration error: the key exists once the API has started. */
function refuseUnreadableKey(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error)
  throw new Error(
    `Start the API first, or set ROOST_INTERNAL_SECRET for both. The encryption key cannot be read: ${reason}`,
    { cause: error },
  )
}
