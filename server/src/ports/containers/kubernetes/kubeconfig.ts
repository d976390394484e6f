import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { type Credentials, execCredentials, fixedCredentials, tokenFileCredentials } from './credentials.ts'

/** How to reach an API server. TLS verification is always on. */
export type Connection = {
  server: URL
  /** Trusted certificates in PEM format; null for those of the system. */
  ca: string | null
  /** The name that the server's certificate must have; null for the host of `server`. */
  serverName: string | null
  /** The namespace of the context, or of the pod that this process runs in; null if there is none. */
  namespace: string | null
  /** True for the service account of the pod that this process runs in. */
  isInCluster: boolean
  credentials: Credentials
}

/** The parts of `kubernetes:[///kubeconfig][?context=…&namespace=…]`; null where not given. */
export type KubernetesUrl = { file: string | null; context: string | null; namespace: string | null }

type Environment = Record<string, string | undefined>
type Entries = { name?: string }[]
/** As in a file; every field is checked where it is used. */
type KubeConfig = {
  'current-context'?: string
  contexts?: (Entries[number] & { context?: { cluster?: string; user?: string; namespace?: string } })[]
  clusters?: (Entries[number] & { cluster?: Record<string, unknown> })[]
  users?: (Entries[number] & { user?: Record<string, unknown> })[]
}

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Throws an Error that names ROOST_CONTAINERS_URL. */
export function parseKubernetesUrl(url: string): KubernetesUrl {
  const [, file, query] = /^kubernetes:(?:\/\/(\/[^?#]+))?(?:\?([^#]*))?$/.exec(url) ?? [null, null, null]
  const parameters = new URLSearchParams(query ?? '')
  const unknown = [...parameters.keys()].filter((key) => key !== 'context' && key !== 'namespace')
  if (file === null || unknown.length > 0)
    throw invalid(`${JSON.stringify(url)} must be kubernetes:[///path/to/kubeconfig][?context=…&namespace=…]`)
  return {
    file: file === undefined ? null : decodeURIComponent(file),
    context: parameters.get('context') || null,
    namespace: parameters.get('namespace') || null,
  }
}

/**
 * Finds the API server: the named file; without one the service account of the pod that this process runs in, then
 * `KUBECONFIG`, then `~/.kube/config`. Throws an Error that names the file and the field.
 */
export async function findConnection(url: KubernetesUrl, env: Environment): Promise<Connection> {
  const { file, context } = url
  if (file === null && context === null && env.KUBERNETES_SERVICE_HOST) return inCluster(env)
  const files = file !== null ? [file] : defaultFiles(env)
  const configs: { path: string; config: KubeConfig }[] = []
  for (const path of files) {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && files.length > 1) return null
      throw invalid(`the kubeconfig ${path} cannot be read: ${error.message}`)
    })
    if (text !== null) configs.push({ path, config: parseFile(path, text) })
  }
  if (configs.length === 0) throw invalid(`none of the files in KUBECONFIG exists: ${files.join(', ')}`)
  return fromConfigs(configs, context, env)
}

function defaultFiles(env: Environment): string[] {
  const listed = (env.KUBECONFIG ?? '').split(':').filter((path) => path !== '')
  if (listed.length > 0) return listed.map((path) => resolve(path))
  return [join(env.HOME ?? '/root', '.kube/config')]
}

async function inCluster(env: Environment): Promise<Connection> {
  const host = env.KUBERNETES_SERVICE_HOST ?? ''
  const read = (name: string) =>
    readFile(join(accountFolder, name), 'utf8').catch((error: Error) => {
      throw invalid(`this pod has no service account token: ${error.message}`)
    })
  return {
    server: new URL(
      `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT ?? '443'}`,
    ),
    ca: await read('ca.crt'),
    serverName: null,
    namespace: (await read('namespace')).trim(),
    isInCluster: true,
    credentials: tokenFileCredentials(join(accountFolder, 'token')),
  }
}

function parseFile(path: string, text: string): KubeConfig {
  const config: unknown = (() => {
    try {
      return parse(text)
    } catch (error) {
      throw invalid(`the kubeconfig ${path} is not YAML: ${(error as Error).message.split('\n')[0]}`)
    }
  })()
  if (typeof config !== 'object' || config === null) throw invalid(`the kubeconfig ${path} is empty`)
  return config as KubeConfig
}

/** The first file that has an entry decides, as in kubectl. */
async function fromConfigs(
  configs: readonly { path: string; config: KubeConfig }[],
  requested: string | null,
  env: Environment,
): Promise<Connection> {
  const names = configs.map(({ path }) => path).join(', ')
  const find = (list: 'contexts' | 'clusters' | 'users', name: string) => {
    for (const { path, config } of configs) {
      const entry = (config[list] as Entries | undefined)?.find((each) => each?.name === name)
      if (entry) return { path, entry: entry as Record<string, unknown> }
    }
    throw invalid(`${names}: ${list} has no entry ${JSON.stringify(name)}`)
  }
  const name =
    requested ?? configs.map(({ config }) => config['current-context']).find((current) => current) ?? null
  if (name === null) throw invalid(`${names}: current-context is missing`)
  const context = (find('contexts', name).entry.context ?? {}) as Record<string, unknown>
  const { path, entry } = find('clusters', String(context.cluster))
  const cluster = (entry.cluster ?? {}) as Record<string, unknown>
  const field = `${path}: cluster ${JSON.stringify(context.cluster)}`
  if (cluster['insecure-skip-tls-verify'])
    throw invalid(`${field}: insecure-skip-tls-verify is not supported; set certificate-authority`)
  if (cluster['proxy-url']) throw invalid(`${field}: proxy-url is not supported`)
  const server = String(cluster.server ?? '')
  if (!URL.canParse(server) || !server.startsWith('https://'))
    throw invalid(`${field}: server must start with https://`)
  const user = context.user === undefined ? null : find('users', String(context.user))
  const ca = await material(path, cluster, 'certificate-authority')
  return {
    server: new URL(server),
    ca,
    serverName: typeof cluster['tls-server-name'] === 'string' ? cluster['tls-server-name'] : null,
    namespace: typeof context.namespace === 'string' ? context.namespace : null,
    isInCluster: false,
    credentials: user
      ? await credentialsOf(user.path, (user.entry.user ?? {}) as Record<string, unknown>, {
          env,
          cluster: { server, ca },
        })
      : fixedCredentials({}),
  }
}

async function credentialsOf(
  path: string,
  user: Record<string, unknown>,
  more: { env: Environment; cluster: { server: string; ca: string | null } },
): Promise<Credentials> {
  for (const field of ['username', 'auth-provider'])
    if (user[field]) throw invalid(`${path}: the user's ${field} is not supported; use exec or a token`)
  if (user.exec) return execCredentials(user.exec, { folder: dirname(path), ...more })
  if (typeof user.tokenFile === 'string') return tokenFileCredentials(resolve(dirname(path), user.tokenFile))
  const [certificate, key] = [
    await material(path, user, 'client-certificate'),
    await material(path, user, 'client-key'),
  ]
  if ((certificate === null) !== (key === null))
    throw invalid(`${path}: the user needs both client-certificate and client-key`)
  return fixedCredentials({
    ...(certificate !== null && key !== null ? { certificate, key } : {}),
    ...(typeof user.token === 'string' ? { token: user.token } : {}),
  })
}

/** Inline data wins over a file, whose path is relative to the kubeconfig. */
async function material(path: string, from: Record<string, unknown>, field: string): Promise<string | null> {
  const inline = from[`${field}-data`]
  if (typeof inline === 'string' && inline !== '') return Buffer.from(inline, 'base64').toString('utf8')
  const file = from[field]
  if (typeof file !== 'string' || file === '') return null
  return readFile(resolve(dirname(path), file), 'utf8').catch((error: Error) => {
    throw invalid(`${path}: ${field} cannot be read: ${error.message}`)
  })
}

function invalid(message: string): Error {
  return new Error(`ROOST_CONTAINERS_URL: ${message}`)
}
