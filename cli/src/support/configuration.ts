import { isSecretKey } from '@roost/contracts/kit/redact'

/** Variables whose value says something about a fault and holds no secret. All others are shown as set or not. */
export const shownVariables: readonly string[] = [
  'DISPATCH_BREAKER_ENABLED',
  'ROOST_AGENT_IMAGE',
  'ROOST_AGENT_TMP_SIZE',
  'ROOST_CHAT_IDLE_SECONDS',
  'ROOST_CONTAINER_PREFIX',
  'ROOST_CONTAINER_RUNTIME',
  'ROOST_DATA_DIR',
  'ROOST_DISK_SECONDS',
  'ROOST_HOST',
  'ROOST_INSTALL_SOURCE',
  'ROOST_INTERNAL_PORT',
  'ROOST_LOG_LEVEL',
  'ROOST_MCP_CHAT_TIMEOUT_MS',
  'ROOST_MCP_PORT',
  'ROOST_PORT',
  'ROOST_QUEUE_DEPTH',
  'ROOST_SSH_BIND',
  'ROOST_SSH_PORT_RANGE',
  'ROOST_STALL_SECONDS',
  'ROOST_TLS_CERT',
  'ROOST_TRUSTED_PROXIES',
  'ROOST_VOICE_MODEL',
  'ROOST_VOIP_ENABLED',
  'WEBHOOK_IP_RATE_LIMIT',
  'WEBHOOK_RATE_LIMIT',
]

/** Addresses: scheme, host and port are shown, and nothing that may hold a password or token. */
export const addressVariables: readonly string[] = [
  'ANTHROPIC_BASE_URL',
  'GOOGLE_GEMINI_BASE_URL',
  'OPENAI_BASE_URL',
  'ROOST_BASE_URL',
  'ROOST_CONTAINERS_URL',
  'ROOST_DATABASE_URL',
  'ROOST_GIT_BASE_URL',
  'ROOST_MAIL_URL',
  'ROOST_REDIS_URL',
]

/** The environment also holds variables of other programs, which are no part of the configuration. */
const ofPlatform = /^(ROOST|WEBHOOK|DISPATCH|ANTHROPIC|GOOGLE|GEMINI|OPENAI|SLACK|TWILIO)_/

export function describeConfiguration(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter(([name, value]) => ofPlatform.test(name) && value)
  return Object.fromEntries(
    entries
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value = '']) => [name, shown(name, value)]),
  )
}

/** Values of the configuration that must not appear anywhere in the bundle. */
export function secretsOf(env: NodeJS.ProcessEnv): string[] {
  const hidden = Object.entries(env).flatMap(([name, value = '']) => {
    if (shownVariables.includes(name)) return []
    if (addressVariables.includes(name)) return secretsOfAddress(value)
    return ofPlatform.test(name) || isSecretKey(name) ? [value] : []
  })
  // Shorter texts are words, and masking them would make the logs unreadable.
  return hidden.filter((text) => text.length >= 8)
}

function shown(name: string, value: string): string {
  if (shownVariables.includes(name)) return value
  return addressVariables.includes(name) ? shownAddress(value) : '[set]'
}

function shownAddress(value: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0]
  if (scheme === undefined) return '[set]'
  const url = URL.parse(value)
  return url?.host ? `${scheme}//${url.host}` : scheme
}

function secretsOfAddress(value: string): string[] {
  const url = URL.parse(value)
  if (!url) return []
  const parts = [url.password, ...url.searchParams.values()]
  return parts.flatMap((part) => [part, decoded(part)])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
