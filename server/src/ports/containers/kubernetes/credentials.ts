import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { ContainerError } from '../port.ts'

/** Authenticates a request. `certificate` and `key` are in PEM format. */
export type Credential = { token?: string; certificate?: string; key?: string }

export type Credentials = {
  /** Throws `ContainerError` engine_fault with the reason. */
  current(): Promise<Credential>
  /** Drops the cached credential, because the API refused it. False if there is no other one. */
  forget(): boolean
}

export function fixedCredentials(credential: Credential): Credentials {
  return { current: async () => credential, forget: () => false }
}

/** The kubelet replaces tokens in a pod, which are valid for about an hour. */
const tokenFileMs = 60_000

export function tokenFileCredentials(path: string, clock: Pick<Clock, 'now'> = systemClock): Credentials {
  let cached: { token: string; readAt: number } | null = null
  return {
    async current() {
      const now = clock.now().getTime()
      if (cached && now - cached.readAt < tokenFileMs) return { token: cached.token }
      const text = await readFile(path, 'utf8').catch((cause: Error) => {
        throw new ContainerError('engine_fault', `the token ${path} cannot be read: ${cause.message}`, {
          cause,
        })
      })
      cached = { token: text.trim(), readAt: now }
      return { token: cached.token }
    },
    forget() {
      cached = null
      return true
    },
  }
}

export type ExecOptions = {
  /** Folder of the kubeconfig; a command with a slash is relative to it. */
  folder: string
  env: Record<string, string | undefined>
  cluster: { server: string; ca: string | null }
  clock?: Pick<Clock, 'now'>
}

type ExecPlugin = {
  command: string
  args: string[]
  env: { name: string; value: string }[]
  apiVersion: string
  installHint: string
}

const execMs = 60_000
const maxOutputBytes = 1024 ** 2
/** A credential is renewed this long before it expires, so that no request carries an expired one. */
const renewMs = 10_000

/** Runs a program that prints an `ExecCredential`, and keeps the result until it expires. */
export function execCredentials(spec: unknown, options: ExecOptions): Credentials {
  const plugin = readPlugin(spec)
  const clock = options.clock ?? systemClock
  let cached: { credential: Credential; expiresAt: number } | null = null
  let pending: Promise<Credential> | null = null

  async function renew(): Promise<Credential> {
    const answer = readAnswer(plugin, await run(plugin, options))
    cached = answer
    return answer.credential
  }
  return {
    current() {
      if (cached && clock.now().getTime() < cached.expiresAt - renewMs)
        return Promise.resolve(cached.credential)
      pending ??= renew().finally(() => {
        pending = null
      })
      return pending
    },
    forget() {
      cached = null
      return true
    },
  }
}

function readPlugin(spec: unknown): ExecPlugin {
  const fields = (typeof spec === 'object' && spec !== null ? spec : {}) as Record<string, unknown>
  const { command, args, env, apiVersion } = fields
  const invalid = (rule: string) => new Error(`ROOST_CONTAINERS_URL: the kubeconfig's exec ${rule}`)
  if (typeof command !== 'string' || command === '') throw invalid('needs a command')
  if (!/^client\.authentication\.k8s\.io\/(v1|v1beta1)$/.test(String(apiVersion)))
    throw invalid(`has the apiVersion ${JSON.stringify(apiVersion)}; v1 and v1beta1 are supported`)
  if (fields.interactiveMode === 'Always')
    throw invalid('has the interactiveMode Always, but a server has no terminal')
  const pairs = (Array.isArray(env) ? env : []) as { name?: unknown; value?: unknown }[]
  return {
    command,
    args: (Array.isArray(args) ? args : []).map(String),
    env: pairs.map(({ name, value }) => ({ name: String(name), value: String(value) })),
    apiVersion: String(apiVersion),
    installHint: typeof fields.installHint === 'string' ? ` ${fields.installHint.trim()}` : '',
  }
}

function run({ command, args, env, apiVersion, installHint }: ExecPlugin, options: ExecOptions) {
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: {
        server: options.cluster.server,
        ...(options.cluster.ca && {
          'certificate-authority-data': Buffer.from(options.cluster.ca).toString('base64'),
        }),
      },
    },
  }
  return new Promise<string>((done, reject) => {
    const fail = (why: string, cause?: unknown) =>
      reject(
        new ContainerError(
          'engine_fault',
          `the credential program ${command} of the kubeconfig failed: ${why}${installHint}`,
          { cause },
        ),
      )
    const child = spawn(command.includes('/') ? resolve(options.folder, command) : command, args, {
      env: {
        ...withoutOwnSecrets(options.env),
        ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
        KUBERNETES_EXEC_INFO: JSON.stringify(info),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // The option `timeout` of Node keeps its timer when the program does not exist.
    const limit = setTimeout(() => child.kill('SIGKILL'), execMs)
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.length > maxOutputBytes) child.kill('SIGKILL')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-500)
    })
    child.once('error', (error) => {
      clearTimeout(limit)
      fail(error.message, error)
    })
    child.once('close', (code, signal) => {
      clearTimeout(limit)
      if (code === 0) return done(output)
      fail(
        complaint.trim() || (signal ? `it was ended after ${execMs / 1000} s or 1 MB` : `exit code ${code}`),
      )
    })
  })
}

/** The program needs no secret of the platform, such as its encryption key. */
function withoutOwnSecrets(env: ExecOptions['env']): ExecOptions['env'] {
  const own = /^(ROOST|ANTHROPIC|GEMINI|OPENAI|GITHUB)_/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)))
}

function readAnswer({ command }: ExecPlugin, text: string): { credential: Credential; expiresAt: number } {
  const invalid = (why: string) =>
    new ContainerError('engine_fault', `the credential program ${command} of the kubeconfig ${why}`)
  let status: Record<string, unknown>
  try {
    status = (JSON.parse(text) as { status?: Record<string, unknown> }).status ?? {}
  } catch {
    throw invalid('printed no ExecCredential')
  }
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = status
  const credential: Credential = {
    ...(typeof token === 'string' && token !== '' ? { token } : {}),
    ...(typeof certificate === 'string' && typeof key === 'string' ? { certificate, key } : {}),
  }
  if (Object.keys(credential).length === 0)
    throw invalid('returned neither a token nor a certificate with its key')
  const expiresAt =
    typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY
  if (Number.isNaN(expiresAt)) throw invalid('returned an invalid expirationTimestamp')
  return { credential, expiresAt }
}
