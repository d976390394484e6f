import { resolve } from 'node:path'
import {
  address,
  boolean,
  bytes,
  httpUrl,
  integer,
  listOf,
  mailUrl,
  matching,
  namedAddress,
  network,
  oneOf,
  port,
  portRange,
} from './config-values.ts'
import { secret } from './kit/secret.ts'
import { type LogLevel, logLevels } from './ports/log.ts'

export type Variable<T> = {
  name: string
  /** Another name that is read when `name` is not set. */
  alias?: string
  /** As it would be written in the environment; null: the value is null when it is not set. */
  default: string | null
  /** Stands for the default in the reference when that is no fixed text. */
  defaultWords?: string
  description: string
  /** Throws `Rejected`. */
  parse(text: string): T
}

const entitlements = ['portal_delegate_exchange', 'runnable_skills'] as const
export type Entitlement = (typeof entitlements)[number]

/** Every variable that Roost reads. An empty value counts as not set. */
export const variables = {
  dataDir: required({
    name: 'ROOST_DATA_DIR',
    default: './data',
    description: 'Folder of the database file, the encryption key and what else is kept on disk.',
    parse: (value) => resolve(value),
  }),
  databaseUrl: optional({
    name: 'ROOST_DATABASE_URL',
    defaultWords: '`sqlite:` in the data folder',
    description: 'Database: `sqlite:<path>` or `postgres://user:password@host:port/name`.',
    parse: (value) =>
      secret(matching(value, /^(sqlite:.|postgres(ql)?:\/\/.)/, 'must start with sqlite: or postgres://')),
  }),
  redisUrl: optional({
    name: 'ROOST_REDIS_URL',
    defaultWords: 'in this process',
    description: 'Store for short-lived data: `redis://` or `rediss://`. Needed with several API processes.',
    parse: (value) => secret(matching(value, /^rediss?:\/\/./, 'must start with redis:// or rediss://')),
  }),
  baseUrl: optional({
    name: 'ROOST_BASE_URL',
    defaultWords: '`http://localhost:<ROOST_PORT>`',
    description: 'Address under which people reach the platform, without a slash at the end.',
    parse: httpUrl,
  }),
  host: required({
    name: 'ROOST_HOST',
    default: '127.0.0.1',
    description: 'Address the public listener binds to.',
    parse: address,
  }),
  port: required({
    name: 'ROOST_PORT',
    default: '8000',
    description: 'Port of the public listener.',
    parse: port,
  }),
  internalPort: required({
    name: 'ROOST_INTERNAL_PORT',
    default: '8001',
    description: 'Port of the internal listener: agents, scheduler, metrics.',
    parse: port,
  }),
  mcpPort: required({
    name: 'ROOST_MCP_PORT',
    default: '8080',
    description: 'Port of the MCP server.',
    parse: port,
  }),
  encryptionKey: optional({
    name: 'ROOST_ENCRYPTION_KEY',
    defaultWords: 'made at the first start in the data folder, mode 0600',
    description: 'Key that secrets are sealed with in the database: 32 bytes in hex.',
    parse: (value) => secret(matching(value, /^[0-9a-f]{64}$/i, 'must be 32 bytes in hex (64 digits)')),
  }),
  mailUrl: optional({
    name: 'ROOST_MAIL_URL',
    defaultWords: 'none: signing in by e-mail is off',
    description:
      'Outgoing mail: `smtp://[user:password@]host[:port]`, `smtps://`, `file:<folder>` (one file per mail) or `log:`. `?from=` at its end names the sender’s address.',
    parse: (value) => secret(mailUrl(value)),
  }),
  containersUrl: required({
    name: 'ROOST_CONTAINERS_URL',
    default: 'docker:',
    description:
      'Container engine: `docker:` (a socket or `DOCKER_HOST` style address may follow) or `sandbox:`.',
    parse: (value) => matching(value, /^(docker|sandbox|swarm|fake):/, 'must start with docker: or sandbox:'),
  }),
  containerPrefix: required({
    name: 'ROOST_CONTAINER_PREFIX',
    default: 'agent-',
    description:
      'What the names of agents’ containers begin with; one of its own for each installation on an engine.',
    parse: (value) =>
      matching(
        value,
        /^[a-z0-9][a-z0-9-]{0,30}-$/,
        'must be small letters, digits and hyphens, with a hyphen last',
      ),
  }),
  agentImage: optional({
    name: 'ROOST_AGENT_IMAGE',
    defaultWords: 'built locally',
    description: 'Image of the agents’ containers.',
    parse: (value) => value,
  }),
  agentTmpBytes: required({
    name: 'ROOST_AGENT_TMP_SIZE',
    default: '512m',
    description: 'Size of `/tmp` in an agent’s container.',
    parse: bytes,
  }),
  sshPorts: required({
    name: 'ROOST_SSH_PORT_RANGE',
    default: '2222-2262',
    description: 'Ports for SSH into agents’ containers.',
    parse: portRange,
  }),
  sshBind: required({
    name: 'ROOST_SSH_BIND',
    default: '127.0.0.1',
    description: 'Address these ports are published at.',
    parse: address,
  }),
  trustedProxies: required({
    name: 'ROOST_TRUSTED_PROXIES',
    default: '',
    description: 'Addresses or networks (`10.0.0.0/8`) whose `X-Forwarded-For` is believed, with commas.',
    parse: (value) => listOf(value, network),
  }),
  gitBaseUrl: required({
    name: 'ROOST_GIT_BASE_URL',
    default: 'https://github.com',
    description: 'The one git host that sources and repositories come from.',
    parse: (value) =>
      matching(value, /^https?:\/\/./, 'must start with https:// or http://').replace(/\/+$/, ''),
  }),
  egressInner: required({
    name: 'ROOST_EGRESS_INNER',
    default: '',
    description:
      'Neighbours that agents may reach over the platform: `host:port=address`, with commas. All other inner addresses are refused.',
    parse: (value) => listOf(value, namedAddress),
  }),
  defaultSkillSource: required({
    name: 'ROOST_DEFAULT_SKILL_SOURCE',
    default: 'bundled',
    description:
      'Repository of the community skill source; `bundled` is what comes with the platform, `none` is none.',
    parse: (value) => value,
  }),
  defaultSkillSourceRef: optional({
    name: 'ROOST_DEFAULT_SKILL_SOURCE_REF',
    defaultWords: 'the release tag of this version',
    description:
      'Release tag, `v<major>.<minor>.<patch>`, that a community skill source other than `bundled` is pinned to. The bundled one has the release that it comes with.',
    parse: (value) => value,
  }),
  queueDepth: required({
    name: 'ROOST_QUEUE_DEPTH',
    default: '50',
    description: 'Executions that may wait per agent.',
    parse: (value) => integer(value, 1, 10_000),
  }),
  stallSeconds: required({
    name: 'ROOST_STALL_SECONDS',
    default: '900',
    description: 'Silence of a runtime after which its turn is ended.',
    parse: (value) => integer(value, 1, 86_400),
  }),
  chatIdleSeconds: required({
    name: 'ROOST_CHAT_IDLE_SECONDS',
    default: '600',
    description: 'Time without a turn after which a conversation’s live process is ended.',
    parse: (value) => integer(value, 1, 86_400),
  }),
  mcpChatTimeoutMs: required({
    name: 'ROOST_MCP_CHAT_TIMEOUT_MS',
    default: '25000',
    description: 'Milliseconds after which a waiting MCP tool answers with a receipt.',
    parse: (value) => integer(value, 100, 3_600_000),
  }),
  voipEnabled: required({
    name: 'ROOST_VOIP_ENABLED',
    default: 'false',
    description: 'Telephone calls.',
    parse: boolean,
  }),
  x402FacilitatorUrl: optional({
    name: 'ROOST_X402_FACILITATOR_URL',
    defaultWords: 'none: paid chat is off',
    description: 'Facilitator of payments.',
    parse: httpUrl,
  }),
  entitlements: required({
    name: 'ROOST_ENTITLEMENTS',
    default: '',
    description:
      'Features of the enterprise edition: `portal_delegate_exchange`, `runnable_skills`, with commas.',
    parse: (value) => listOf(value, (item) => oneOf<Entitlement>(item, entitlements)),
  }),
  installSource: required({
    name: 'ROOST_INSTALL_SOURCE',
    default: 'unknown',
    description: 'How this installation was made; shown by `GET /api/version`.',
    parse: (value) => matching(value, /^[A-Za-z0-9._-]{1,64}$/, 'must be letters, digits, ".", "_" and "-"'),
  }),
  webhookRateLimit: required({
    name: 'WEBHOOK_RATE_LIMIT',
    alias: 'ROOST_WEBHOOK_RATE_LIMIT',
    default: '10',
    description: 'Webhook calls per token and minute.',
    parse: (value) => integer(value, 1, 1_000_000),
  }),
  webhookIpRateLimit: required({
    name: 'WEBHOOK_IP_RATE_LIMIT',
    alias: 'ROOST_WEBHOOK_IP_RATE_LIMIT',
    default: '60',
    description: 'Webhook calls per client address and minute.',
    parse: (value) => integer(value, 1, 1_000_000),
  }),
  dispatchBreakerEnabled: required({
    name: 'DISPATCH_BREAKER_ENABLED',
    alias: 'ROOST_DISPATCH_BREAKER_ENABLED',
    default: 'false',
    description: 'Circuit breakers before dispatch; the setting `dispatch_breaker_enabled` wins.',
    parse: boolean,
  }),
  anthropicApiKey: providerKey('ANTHROPIC_API_KEY', 'Anthropic'),
  geminiApiKey: providerKey('GEMINI_API_KEY', 'Google'),
  openaiApiKey: providerKey('OPENAI_API_KEY', 'OpenAI'),
  githubPat: providerKey('GITHUB_PAT', 'the git host'),
  anthropicBaseUrl: required({
    name: 'ANTHROPIC_BASE_URL',
    default: 'https://api.anthropic.com',
    description: 'Where the broker sends Anthropic’s model traffic.',
    parse: httpUrl,
  }),
  geminiBaseUrl: required({
    name: 'GOOGLE_GEMINI_BASE_URL',
    default: 'https://generativelanguage.googleapis.com',
    description: 'Where the broker sends Google’s model traffic, and where calls are spoken.',
    parse: httpUrl,
  }),
  twilioBaseUrl: required({
    name: 'ROOST_TWILIO_BASE_URL',
    default: 'https://api.twilio.com',
    description: 'Where telephone calls are asked for.',
    parse: httpUrl,
  }),
  voiceModel: required({
    name: 'ROOST_VOICE_MODEL',
    default: 'gemini-3.8-live',
    description: 'Model that listens and speaks in calls.',
    parse: (value) => matching(value, /^[\w./-]{1,100}$/, 'must be the id of a model'),
  }),
  openaiBaseUrl: required({
    name: 'OPENAI_BASE_URL',
    default: 'https://api.openai.com/v1',
    description: 'Where the broker sends OpenAI’s model traffic.',
    parse: httpUrl,
  }),
  slackApiUrl: required({
    name: 'ROOST_SLACK_API_URL',
    default: 'https://slack.com/api',
    description: 'Web API of Slack, without a slash at its end.',
    parse: httpUrl,
  }),
  logLevel: required({
    name: 'ROOST_LOG_LEVEL',
    default: 'info',
    description: `One of ${logLevels.map((level) => `\`${level}\``).join(', ')}.`,
    parse: (value) => oneOf<LogLevel>(value, logLevels),
  }),
  supervised: required({
    name: 'ROOST_SUPERVISED',
    default: 'false',
    description: 'Set by `roost up` for the processes it starts and keeps.',
    parse: boolean,
  }),
}

function required<T>(variable: Variable<T> & { default: string }): Variable<T> {
  return variable
}

function optional<T>(variable: Omit<Variable<T>, 'default'>): Variable<T | null> {
  return { ...variable, default: null }
}

function providerKey(name: string, of: string): Variable<ReturnType<typeof secret> | null> {
  return optional({
    name,
    defaultWords: 'none',
    description: `Key of ${of}; a key stored through the settings wins.`,
    parse: (value) => secret(value),
  })
}
