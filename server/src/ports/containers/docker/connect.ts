import { registerHooks } from 'node:module'
import type { default as Client } from 'dockerode'
import { ContainerError } from '../port.ts'

/**
 * Stubs for libraries that dockerode loads at start but needs only for SSH and build sessions. They would
 * take 13 MB, of which the collector would scan 4 MB. For SSH in `DOCKER_HOST`, the real library is loaded
 * with the first connection.
 */
const stubs: Record<string, string> = {
  '@grpc/grpc-js': 'module.exports = {}',
  '@grpc/proto-loader': 'module.exports = {}',
  protobufjs: 'module.exports = {}',
  ssh2: `
    const { createRequire } = require('node:module')
    const read = createRequire(${JSON.stringify(import.meta.resolve('docker-modem/package.json'))})
    exports.Client = function () { return new (read('ssh2').Client)() }
  `,
}
const scheme = 'roost-stand-in:'

const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!(specifier in stubs)) return next(specifier, context)
    return { url: scheme + specifier, format: 'commonjs', shortCircuit: true }
  },
  load(url, context, next) {
    const source = url.startsWith(scheme) ? stubs[url.slice(scheme.length)] : undefined
    return source === undefined ? next(url, context) : { format: 'commonjs', source, shortCircuit: true }
  },
})
const { default: Docker } = await import('dockerode')
hooks.deregister()

/**
 * Creates a client for a `docker:` URL: `docker:` (`DOCKER_HOST` or the default socket),
 * `docker:///path/to.sock`, `docker:tcp://host:port`. Connects on the first call.
 */
export function connect(url: string): Client {
  const target = url.slice('docker:'.length)
  // Without arguments the library uses DOCKER_HOST, DOCKER_CERT_PATH and the per-user socket.
  if (target === '') return new Docker()
  // An explicit target must override DOCKER_HOST, which the library would otherwise merge in.
  const noDefaults = { host: undefined, socketPath: undefined, port: undefined, pathPrefix: '/' }
  const socket = /^(?:\/\/)?(\/[^/].*)$/.exec(target)?.[1]
  if (socket !== undefined) return new Docker({ ...noDefaults, protocol: 'http', socketPath: socket })
  const tcp = /^tcp:\/\/(\[[0-9a-fA-F:]+\]|[^/:\s]+):(\d{1,5})\/?$/.exec(target)
  if (tcp) return new Docker({ ...noDefaults, protocol: 'http', host: tcp[1], port: Number(tcp[2]) })
  throw new Error(
    `ROOST_CONTAINERS_URL: ${JSON.stringify(url)} is none of docker:, docker:///path/to.sock, docker:tcp://host:port`,
  )
}

/** Calls the engine with a time limit and converts every failure to a `ContainerError`. */
export type Ask = <T>(
  what: string,
  call: (signal: AbortSignal) => Promise<T>,
  more?: { extraSeconds?: number; signal?: AbortSignal },
) => Promise<T>

export function createAsk(timeoutSeconds: number): Ask {
  return async (what, call, more = {}) => {
    const controller = new AbortController()
    const seconds = timeoutSeconds + (more.extraSeconds ?? 0)
    const onTimeout = () =>
      controller.abort(new ContainerError('engine_down', `${what}: no answer within ${seconds} s`))
    const onAbort = () =>
      controller.abort(new ContainerError('engine_down', `${what}: given up by the caller`))
    const timer = setTimeout(onTimeout, seconds * 1000)
    if (more.signal?.aborted) onAbort()
    more.signal?.addEventListener('abort', onAbort, { once: true })
    try {
      // The race enforces the limit even where the library ignores the signal.
      return await Promise.race([call(controller.signal), whenAborted(controller.signal)])
    } catch (error) {
      throw toContainerError(what, error)
    } finally {
      clearTimeout(timer)
      more.signal?.removeEventListener('abort', onAbort)
    }
  }
}

/** Calls an Engine API path for which the library offers no cancellation. */
export function get<T>(docker: Client, path: string, abortSignal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const statusCodes = { 200: true, 404: 'not found', 500: 'server error' }
    docker.modem.dial(
      // The library takes the last character from a path with a query, expecting a question mark.
      { path: path.includes('?') ? `${path}?` : path, method: 'GET', statusCodes, abortSignal },
      (error: unknown, answer: unknown) => {
        if (error) reject(error)
        // The caller names the type that the Engine API documents for this path.
        else resolve(answer as T)
      },
    )
  })
}

/** Parameters of a create call. The library repeats a plain body, including an agent's key, in the URL. */
export function withoutQuery<T extends object>(
  body: T,
  abortSignal: AbortSignal,
  query: Record<string, string> = {},
): T {
  // The library reads these two fields in place of the declared ones.
  return { abortSignal, _query: query, _body: body } as unknown as T
}

/** Maps an engine's failure to a fault. Most engines send messages instead of codes. */
export function toContainerError(what: string, error: unknown): ContainerError {
  if (error instanceof ContainerError) return error
  const cause = error instanceof Error && error.cause instanceof ContainerError ? error.cause : null
  if (cause) return cause
  const message = `${what}: ${error instanceof Error ? error.message.trim() : String(error)}`
  return new ContainerError(faultOf(error, message), message, { cause: error })
}

function faultOf(error: unknown, message: string): ContainerError['fault'] {
  const status = httpStatusOf(error)
  // No status means no response: refused, reset, missing socket, or no permission to open it.
  if (status === null) return isConnectionFailure(error) ? 'engine_down' : 'engine_fault'
  if (/port is already allocated|address already in use|ports are not available/i.test(message))
    return 'port_taken'
  if (/name .*already in use/i.test(message)) return 'name_taken'
  if (status === 404 && /no such image|image not known/i.test(message)) return 'image_missing'
  if (status === 404 && /no such container|no container with/i.test(message)) return 'no_such_container'
  return 'engine_fault'
}

/** Returns the status of the engine's HTTP response; null for other failures. */
export function httpStatusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return null
  return typeof error.statusCode === 'number' ? error.statusCode : null
}

function isConnectionFailure(error: unknown): boolean {
  return error instanceof Error && ('code' in error || error.name === 'AbortError')
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
