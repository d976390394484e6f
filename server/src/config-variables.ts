import { resolve } from 'node:path'
import {
  address,
  agentAddress,
  boolean,
  bytes,
  closedNetwork,
  httpUrl,
  integer,
  keyValues,
  listOf,
  mailUrl,
  matching,
  namedAddress,
  network,
  objectName,
  oneOf,
  ownAddress,
  port,
  portRange,
  quantity,
  Rejected,
  toleration,
} from './config-values.ts'
import { namedImages } from './kit/named-images.ts'
import { secret } from './kit/secret.ts'
import { agentRuntimes } from './ports/agent-images/port.ts'
import { type LogLevel, logLevels } from './ports/log.ts'

export type Variable<T> = {
  name: string
  /** Read when `name` is not set. */
  alias?: string
  /** As in the environment; null for a variable whose value is null when it is not set. */
  default: string | null
  /** Describes the default in the reference if it is not a fixed text. */
  defaultText?: string
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
    description: 'Folder of the database file, the encryption key and all other files.',
    parse: (value) => resolve(value),
  }),
  databaseUrl: optional({
    name: 'ROOST_DATABASE_URL',
    defaultText: '`sqlite:` in the data folder',
    description: 'Database: `sqlite:<path>` or `postgres://user:password@host:port/name`.',
    parse: (value) =>
      secret(matching(value, /^(sqlite:.|postgres(ql)?:\/\/.)/, 'must start with sqlite: or postgres://')),
  }),
  redisUrl: optional({
    name: 'ROOST_REDIS_URL',
    defaultText: 'in this process',
    description:
      'Store for short-lived data: `redis://`, `rediss://` or `unix:///path/to.sock`. Required with several API processes.',
    parse: (value) =>
      secret(
        matching(value, /^(rediss?:\/\/.|unix:\/\/\/.)/, 'must start with redis://, rediss:// or unix:///'),
      ),
  }),
  baseUrl: optional({
    name: 'ROOST_BASE_URL',
    defaultText: '`http://localhost:<ROOST_PORT>`; with `ROOST_TLS_CERT` `https://…`',
    description: 'Public address of the platform, without a trailing slash.',
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
  tlsCert: optional({
    name: 'ROOST_TLS_CERT',
    defaultText: 'none: HTTP',
    description:
      'File with the certificate chain in PEM format. With it and `ROOST_TLS_KEY` the public listener serves HTTPS.',
    parse: (path) => path,
  }),
  tlsKey: optional({
    name: 'ROOST_TLS_KEY',
    defaultText: 'none',
    description: 'File with the private key of the certificate, in PEM format, without a passphrase.',
    parse: (path) => path,
  }),
  internalPort: required({
    name: 'ROOST_INTERNAL_PORT',
    default: '8001',
    description: 'Port of the internal listener: agents, scheduler, metrics.',
    parse: port,
  }),
  internalPortShared: required({
    name: 'ROOST_INTERNAL_PORT_SHARED',
    default: 'false',
    description:
      'Lets several API processes of one installation listen on the same internal port of this machine. The kernel spreads new connections over them.',
    parse: boolean,
  }),
  internalHost: optional({
    name: 'ROOST_INTERNAL_HOST',
    defaultText: 'none: loopback and the agents’ network',
    description:
      'IP address of this machine that the internal listener also binds to, so that agents on other machines reach it. `0.0.0.0`: all addresses; then set `ROOST_AGENT_ADDRESSES` too.',
    parse: ownAddress,
  }),
  agentAddresses: required({
    name: 'ROOST_AGENT_ADDRESSES',
    default: '',
    description:
      'Addresses of this API process for agents on other machines: `host` or `host:port`, separated by commas. A name may resolve to several addresses. Empty: `ROOST_INTERNAL_HOST`. Agents also learn the addresses of all other API processes.',
    parse: (value) => listOf(value, agentAddress),
  }),
  drainSeconds: required({
    name: 'ROOST_DRAIN_SECONDS',
    default: '0',
    description:
      'Seconds that a stopping API process goes on serving while `/health/ready` answers 503, so that a load balancer sends new requests elsewhere.',
    parse: (value) => integer(value, 0, 300),
  }),
  controlPort: optional({
    name: 'ROOST_CONTROL_PORT',
    defaultText: 'none: not opened',
    description:
      'Port of the control listener on `ROOST_HOST`, for the scheduler, the MCP server and Prometheus on other machines or in other pods. Agents must not reach it.',
    parse: port,
  }),
  controlUrl: optional({
    name: 'ROOST_CONTROL_URL',
    defaultText: 'the internal listener of this machine',
    description:
      'Address of the control listener, for the scheduler and the MCP server. Set it for the API too, which accepts requests with this host name.',
    parse: httpUrl,
  }),
  apiUrl: optional({
    name: 'ROOST_API_URL',
    defaultText: 'the public listener of this machine',
    description: 'Address of the public listener, for the MCP server.',
    parse: httpUrl,
  }),
  mcpPort: required({
    name: 'ROOST_MCP_PORT',
    default: '8080',
    description: 'Port of the MCP server.',
    parse: port,
  }),
  mcpHost: required({
    name: 'ROOST_MCP_HOST',
    default: '127.0.0.1',
    description: 'Address that the MCP server binds to.',
    parse: address,
  }),
  mcpHostNames: required({
    name: 'ROOST_MCP_HOST_NAMES',
    default: '',
    description:
      'Further host names at which clients reach `/mcp`, separated by commas. `localhost` and the host of `ROOST_BASE_URL` are always accepted.',
    parse: (value) => listOf(value, (name) => matching(name, /^[a-z0-9.-]+$/i, 'must be host names')),
  }),
  mcpServerUrl: optional({
    name: 'ROOST_MCP_SERVER_URL',
    defaultText: '`http://127.0.0.1:<ROOST_MCP_PORT>`',
    description: 'Address of the MCP server, to which the API forwards `/mcp`; `http:` only.',
    parse: (value) => matching(httpUrl(value), /^http:/, 'must start with http:'),
  }),
  encryptionKey: optional({
    name: 'ROOST_ENCRYPTION_KEY',
    defaultText: 'created at the first start in the data folder, mode 0600',
    description: 'Key that encrypts secrets in the database: 32 bytes in hex.',
    parse: (value) => secret(matching(value, /^[0-9a-f]{64}$/i, 'must be 32 bytes in hex (64 digits)')),
  }),
  internalSecret: optional({
    name: 'ROOST_INTERNAL_SECRET',
    defaultText: 'derived from the encryption key',
    description:
      'Credential of the scheduler, the MCP server and the command line on the internal listener: at least 32 characters without spaces. Set it for processes that cannot read the encryption key.',
    parse: longSecret,
  }),
  internalSecretFile: optional({
    name: 'ROOST_INTERNAL_SECRET_FILE',
    defaultText: 'none',
    description:
      'File that the API writes this credential to at its start, and from which the other processes read it. They then need no encryption key.',
    parse: (value) => resolve(value),
  }),
  metricsToken: optional({
    name: 'ROOST_METRICS_TOKEN',
    defaultText: 'none: only the internal secret reads them',
    description:
      'Bearer token that reads `/metrics` and nothing else: at least 32 characters without spaces.',
    parse: longSecret,
  }),
  mailUrl: optional({
    name: 'ROOST_MAIL_URL',
    defaultText: 'none: email login is off',
    description:
      'Outgoing mail: `smtp://[user:password@]host[:port]`, `smtps://`, `file:<folder>` (one file per mail) or `log:`. `?from=` at the end sets the sender’s address.',
    parse: (value) => secret(mailUrl(value)),
  }),
  containersUrl: required({
    name: 'ROOST_CONTAINERS_URL',
    default: 'docker:',
    description:
      'Container engine. `docker:`, optionally followed by a socket or an address as in `DOCKER_HOST`; `sandbox:`; or `kubernetes:`, optionally followed by `///path/to/kubeconfig` and `?context=…&namespace=…`. Without a path: the cluster of the platform’s own pod, otherwise `KUBECONFIG`, otherwise `~/.kube/config`.',
    parse: (value) =>
      matching(
        value,
        /^(docker|sandbox|kubernetes|swarm|fake):/,
        'must start with docker:, sandbox: or kubernetes:',
      ),
  }),
  kubernetesNamespace: optional({
    name: 'ROOST_KUBERNETES_NAMESPACE',
    defaultText: 'that of the context or of the platform’s own pod',
    description: 'Namespace of the agents’ pods, volumes and secrets.',
    parse: objectName,
  }),
  kubernetesPlatformHost: optional({
    name: 'ROOST_KUBERNETES_PLATFORM_HOST',
    defaultText: 'this machine’s address on the way to the API server',
    description:
      'Host or Service at which agents’ pods reach the internal listener of the platform. Required with several API processes.',
    parse: address,
  }),
  kubernetesPlatformPods: required({
    name: 'ROOST_KUBERNETES_PLATFORM_PODS',
    default: '',
    description:
      'Labels of the platform’s own pods, `key=value` separated by commas. The network policies of agents allow connections to them. Empty if the platform runs outside of the cluster.',
    parse: keyValues,
  }),
  kubernetesClosedNetworks: required({
    name: 'ROOST_KUBERNETES_CLOSED_NETWORKS',
    default: '',
    description:
      'Further networks that agents must not reach, such as `2001:db8:1::/48`, separated by commas: those of pods and nodes outside of private address space. Private networks and metadata services are always closed.',
    parse: (value) => listOf(value, closedNetwork),
  }),
  kubernetesStorageClass: optional({
    name: 'ROOST_KUBERNETES_STORAGE_CLASS',
    defaultText: 'the default of the cluster',
    description: 'Storage class of agents’ volumes.',
    parse: objectName,
  }),
  kubernetesSharedStorageClass: optional({
    name: 'ROOST_KUBERNETES_SHARED_STORAGE_CLASS',
    defaultText: 'none: agents cannot mount each other’s folders',
    description: 'Storage class of shared folders. It must support ReadWriteMany.',
    parse: objectName,
  }),
  kubernetesAccessMode: required({
    name: 'ROOST_KUBERNETES_ACCESS_MODE',
    default: 'ReadWriteOnce',
    description:
      'Access mode of new volumes of agents. With `ReadWriteMany`, agents of an unreachable node start on another one. The storage class must support it.',
    parse: (value) => oneOf(value, ['ReadWriteOnce', 'ReadWriteMany'] as const),
  }),
  kubernetesVolumeSize: required({
    name: 'ROOST_KUBERNETES_VOLUME_SIZE',
    default: '10Gi',
    description: 'Size of each new volume. An agent has three.',
    parse: quantity,
  }),
  kubernetesSshNodePorts: required({
    name: 'ROOST_KUBERNETES_SSH_NODE_PORTS',
    default: 'false',
    description:
      'Opens the SSH port of each agent on every node, by a Service. `ROOST_SSH_PORT_RANGE` must then lie in the node ports of the cluster, by default 30000-32767.',
    parse: boolean,
  }),
  kubernetesCpuRequest: required({
    name: 'ROOST_KUBERNETES_CPU_REQUEST',
    default: '100m',
    description:
      'Processor time that the cluster reserves for an agent. The limit is a setting of each agent.',
    parse: quantity,
  }),
  kubernetesMemoryRequest: required({
    name: 'ROOST_KUBERNETES_MEMORY_REQUEST',
    default: '256Mi',
    description: 'Memory that the cluster reserves for an agent. The limit is a setting of each agent.',
    parse: quantity,
  }),
  kubernetesDiskLimit: required({
    name: 'ROOST_KUBERNETES_DISK_LIMIT',
    default: '10Gi',
    description:
      'Disk of a node that an agent may use outside of its volumes. The node ends a container that uses more, which counts as a crash. `0`: no limit.',
    parse: (value) => (Number.parseFloat(quantity(value)) === 0 ? null : value),
  }),
  kubernetesNodeSelector: required({
    name: 'ROOST_KUBERNETES_NODE_SELECTOR',
    default: '',
    description: 'Labels that a node for agents must have, `key=value` separated by commas.',
    parse: keyValues,
  }),
  kubernetesTolerations: required({
    name: 'ROOST_KUBERNETES_TOLERATIONS',
    default: '',
    description: 'Taints that agents tolerate, such as `agents=yes:NoSchedule`, separated by commas.',
    parse: (value) => listOf(value, toleration),
  }),
  kubernetesPriorityClass: optional({
    name: 'ROOST_KUBERNETES_PRIORITY_CLASS',
    defaultText: 'the default of the cluster',
    description: 'Priority class of agents’ pods.',
    parse: objectName,
  }),
  kubernetesImagePullSecrets: required({
    name: 'ROOST_KUBERNETES_IMAGE_PULL_SECRETS',
    default: '',
    description: 'Secrets in the agents’ namespace with credentials of the registry, separated by commas.',
    parse: (value) => listOf(value, objectName),
  }),
  kubernetesPodLabels: required({
    name: 'ROOST_KUBERNETES_POD_LABELS',
    default: '',
    description: 'Further labels of agents’ pods, `key=value` separated by commas.',
    parse: keyValues,
  }),
  kubernetesPodAnnotations: required({
    name: 'ROOST_KUBERNETES_POD_ANNOTATIONS',
    default: '',
    description: 'Further annotations of agents’ pods, `key=value` separated by commas.',
    parse: keyValues,
  }),
  engineSocket: required({
    name: 'ROOST_ENGINE_SOCKET',
    default: '/var/run/docker.sock',
    description: 'Socket of the container engine that the engine filter connects to.',
    parse: (value) => resolve(value),
  }),
  engineFilterSocket: required({
    name: 'ROOST_ENGINE_FILTER_SOCKET',
    default: '/run/roost/engine.sock',
    description: 'Socket that the engine filter listens on. It writes the file `install-id` beside it.',
    parse: (value) => resolve(value),
  }),
  installId: optional({
    name: 'ROOST_INSTALL_ID',
    defaultText: 'created at the first start of the engine filter',
    description:
      'Id that marks this installation’s containers, for an engine filter that takes over existing ones.',
    parse: (value) =>
      matching(value, /^[A-Za-z0-9_-]{8,64}$/, 'must be 8 to 64 letters, digits, "_" and "-"'),
  }),
  installIdFile: optional({
    name: 'ROOST_INSTALL_ID_FILE',
    defaultText: 'none',
    description:
      'File with this id that the engine filter writes beside its socket. The API takes its id from it at the first start, and does not start with another one.',
    parse: (value) => resolve(value),
  }),
  heartbeatFile: optional({
    name: 'ROOST_HEARTBEAT_FILE',
    defaultText: 'none',
    description: 'File that the scheduler writes every few seconds while it works, for health checks.',
    parse: (value) => resolve(value),
  }),
  upgradeAtStart: required({
    name: 'ROOST_UPGRADE_AT_START',
    default: 'true',
    description:
      '`true`: the API applies migrations at its start. `false`: the API and the scheduler wait until another process has applied them.',
    parse: boolean,
  }),
  upgradeBackup: required({
    name: 'ROOST_UPGRADE_BACKUP',
    default: 'true',
    description: 'Back up the database before migrations. The start stops if that fails.',
    parse: boolean,
  }),
  containerPrefix: required({
    name: 'ROOST_CONTAINER_PREFIX',
    default: 'agent-',
    description:
      'Prefix of the names of agents’ containers. A name that another installation uses gets a suffix.',
    parse: (value) =>
      matching(
        value,
        /^[a-z0-9][a-z0-9-]{0,30}-$/,
        'must be lower-case letters, digits and hyphens, ending with a hyphen',
      ),
  }),
  containerRuntime: optional({
    name: 'ROOST_CONTAINER_RUNTIME',
    defaultText: 'the default of the engine',
    description:
      'OCI runtime of all agents’ containers: `runc`, `runsc` (gVisor), `kata`, or another that `docker info` lists; with `kubernetes:` a RuntimeClass. Single agents cannot have a weaker one.',
    parse: (value) =>
      matching(value, /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, 'must be the name of an OCI runtime'),
  }),
  lostNodeSeconds: required({
    name: 'ROOST_LOST_NODE_SECONDS',
    default: '60',
    description:
      'Kubernetes: an agent on an unreachable node starts on another one after this many seconds without a heartbeat, if its volumes are ReadWriteMany. `0`: it waits for its node.',
    parse: (value) => integer(value, 0, 86_400),
  }),
  evictionWaitSeconds: required({
    name: 'ROOST_EVICTION_WAIT_SECONDS',
    default: '900',
    description:
      'Kubernetes: a drain waits until an agent has no run, but at most this many seconds after the agent was last idle. `0`: it does not wait.',
    parse: (value) => integer(value, 0, 86_400),
  }),
  adoptEngine: optional({
    name: 'ROOST_ADOPT_ENGINE',
    defaultText: 'none',
    description:
      'Identity of a lost container engine, from an error message. After a restart of the platform, its agents belong to the engine of this machine, with new containers and empty volumes. `unknown`: agents that no engine has. Acts once, and only while no live replica uses the engine. Remove the variable afterwards.',
    parse: (value) => matching(value, /^\S{1,200}$/, 'must be the identity of a container engine'),
  }),
  agentImage: optional({
    name: 'ROOST_AGENT_IMAGE',
    defaultText: 'built locally',
    description:
      'Image of the agents’ containers; `{runtime}` stands for the runtime’s name. Or a list with an image for each runtime, for example by digest: `claude-code=…,gemini-cli=…,codex=…`. Required with `kubernetes:`, because nodes pull it.',
    parse: agentImages,
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
    description: 'Ports for SSH access to agents’ containers.',
    parse: portRange,
  }),
  sshBind: required({
    name: 'ROOST_SSH_BIND',
    default: '127.0.0.1',
    description: 'Address that publishes the SSH ports.',
    parse: address,
  }),
  trustedProxies: required({
    name: 'ROOST_TRUSTED_PROXIES',
    default: '',
    description:
      'Addresses or networks (`10.0.0.0/8`) whose `X-Forwarded-For` is trusted, separated by commas.',
    parse: (value) => listOf(value, network),
  }),
  gitBaseUrl: required({
    name: 'ROOST_GIT_BASE_URL',
    default: 'https://github.com',
    description: 'The git host of all sources and repositories.',
    parse: (value) =>
      matching(value, /^https?:\/\/./, 'must start with https:// or http://').replace(/\/+$/, ''),
  }),
  egressInner: required({
    name: 'ROOST_EGRESS_INNER',
    default: '',
    description:
      'Private hosts that agents may reach through the platform, and push services of devices: `host:port=address`, separated by commas. All other private addresses are refused.',
    parse: (value) => listOf(value, namedAddress),
  }),
  defaultSkillSource: required({
    name: 'ROOST_DEFAULT_SKILL_SOURCE',
    default: 'bundled',
    description:
      'Repository of the community skill source. `bundled` is the source included in the platform; `none` disables it.',
    parse: (value) => value,
  }),
  defaultSkillSourceRef: optional({
    name: 'ROOST_DEFAULT_SKILL_SOURCE_REF',
    defaultText: 'the release tag of this version',
    description:
      'Release tag, `v<major>.<minor>.<patch>`, of a community skill source other than `bundled`. The bundled source has the release of the platform.',
    parse: (value) => value,
  }),
  historyAgentBytes: required({
    name: 'ROOST_HISTORY_AGENT_BYTES',
    default: '5g',
    description:
      'Disk space for the workspace history of an agent without its own quota, like `5g`. The oldest records are removed before it is used up.',
    parse: bytes,
  }),
  historyBytes: required({
    name: 'ROOST_HISTORY_BYTES',
    default: '50g',
    description: 'Disk space for the workspace history of all agents together, in the data folder.',
    parse: bytes,
  }),
  forkBasesBytes: required({
    name: 'ROOST_FORK_BASES_BYTES',
    default: '10g',
    description:
      'Disk space at each container engine for copies of workspaces that make the first fork of an agent fast, like `10g`. `0`: only forks in use have such copies.',
    parse: (value) => (value === '0' ? 0 : bytes(value)),
  }),
  queueDepth: required({
    name: 'ROOST_QUEUE_DEPTH',
    default: '50',
    description: 'Executions that may wait per agent.',
    parse: (value) => integer(value, 1, 10_000),
  }),
  keepaliveSeconds: required({
    name: 'ROOST_KEEPALIVE_SECONDS',
    default: '15',
    description:
      'Seconds without data after which a waiting stream, fan-out or MCP call sends something, so that no proxy closes the connection. Keep it below the idle timeout of every proxy.',
    parse: (value) => integer(value, 1, 50),
  }),
  stallSeconds: required({
    name: 'ROOST_STALL_SECONDS',
    default: '900',
    description: 'Seconds without output of a runtime after which its turn is ended.',
    parse: (value) => integer(value, 1, 86_400),
  }),
  diskSeconds: required({
    name: 'ROOST_DISK_SECONDS',
    default: '60',
    description: 'Shortest time in seconds between two measurements of an agent’s disk usage.',
    parse: (value) => integer(value, 5, 3600),
  }),
  chatIdleSeconds: required({
    name: 'ROOST_CHAT_IDLE_SECONDS',
    default: '600',
    description: 'Seconds without a turn after which a conversation’s live process is ended.',
    parse: (value) => integer(value, 1, 86_400),
  }),
  mcpChatTimeoutMs: required({
    name: 'ROOST_MCP_CHAT_TIMEOUT_MS',
    default: '25000',
    description: 'Milliseconds after which a waiting MCP tool returns a receipt.',
    parse: (value) => integer(value, 100, 3_600_000),
  }),
  voipEnabled: required({
    name: 'ROOST_VOIP_ENABLED',
    default: 'false',
    description: 'Enables telephone calls.',
    parse: boolean,
  }),
  x402FacilitatorUrl: optional({
    name: 'ROOST_X402_FACILITATOR_URL',
    defaultText: 'none: paid chat is off',
    description: 'Address of the payment facilitator.',
    parse: httpUrl,
  }),
  entitlements: required({
    name: 'ROOST_ENTITLEMENTS',
    default: '',
    description:
      'Features of the enterprise edition: `portal_delegate_exchange`, `runnable_skills`, separated by commas.',
    parse: (value) => listOf(value, (item) => oneOf<Entitlement>(item, entitlements)),
  }),
  installSource: required({
    name: 'ROOST_INSTALL_SOURCE',
    default: 'unknown',
    description: 'Source of this installation, as shown by `GET /api/version`.',
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
    description: 'Circuit breakers before dispatch; the setting `dispatch_breaker_enabled` overrides it.',
    parse: boolean,
  }),
  anthropicApiKey: providerKey('ANTHROPIC_API_KEY', 'Anthropic'),
  geminiApiKey: providerKey('GEMINI_API_KEY', 'Google'),
  openaiApiKey: providerKey('OPENAI_API_KEY', 'OpenAI'),
  githubPat: providerKey('GITHUB_PAT', 'the git host'),
  anthropicBaseUrl: required({
    name: 'ANTHROPIC_BASE_URL',
    default: 'https://api.anthropic.com',
    description: 'Address for the broker’s model traffic to Anthropic.',
    parse: httpUrl,
  }),
  geminiBaseUrl: required({
    name: 'GOOGLE_GEMINI_BASE_URL',
    default: 'https://generativelanguage.googleapis.com',
    description: 'Address for the broker’s model traffic to Google, and for speech in calls.',
    parse: httpUrl,
  }),
  twilioBaseUrl: required({
    name: 'ROOST_TWILIO_BASE_URL',
    default: 'https://api.twilio.com',
    description: 'Address of the API for telephone calls.',
    parse: httpUrl,
  }),
  voiceModel: required({
    name: 'ROOST_VOICE_MODEL',
    default: 'gemini-3.8-live',
    description: 'Speech model of calls.',
    parse: (value) => matching(value, /^[\w./-]{1,100}$/, 'must be the id of a model'),
  }),
  openaiBaseUrl: required({
    name: 'OPENAI_BASE_URL',
    default: 'https://api.openai.com/v1',
    description: 'Address for the broker’s model traffic to OpenAI.',
    parse: httpUrl,
  }),
  slackApiUrl: required({
    name: 'ROOST_SLACK_API_URL',
    default: 'https://slack.com/api',
    description: 'Address of Slack’s web API, without a trailing slash.',
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
    description: 'Set by `roost up` for the processes it supervises.',
    parse: boolean,
  }),
  demo: required({
    name: 'ROOST_DEMO',
    default: 'false',
    description:
      'Set by `roost up --demo`: creates demo agents once, and tells people that answers are scripted.',
    parse: boolean,
  }),
}

/** One name, or a list with an image for every runtime. */
function agentImages(value: string) {
  const images = namedImages(value)
  if (images !== null && !agentRuntimes.every((runtime) => images.get(runtime)))
    throw new Rejected(`must name an image for each of ${agentRuntimes.join(', ')}, or one for all`)
  return value
}

/** Too long to be guessed. */
function longSecret(value: string) {
  return secret(matching(value, /^[\x21-\x7e]{32,}$/, 'must have at least 32 characters and no spaces'))
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
    defaultText: 'none',
    description: `Key of ${of}; a key stored in the settings overrides it.`,
    parse: (value) => secret(value),
  })
}
