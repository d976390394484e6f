import type { default as Client } from 'dockerode'
import { ContainerError } from '../port.ts'
import { Docker } from './library.ts'

/**
 * A client for one of the forms of `docker:` URLs: `docker:` (what `DOCKER_HOST` says, else the default
 * socket), `docker:///path/to.sock`, `docker:tcp://host:port`. Connects at the first call, not here.
 */
export function connect(url: string): Client {
  const target = url.slice('docker:'.length)
  // Without arguments the library itself follows DOCKER_HOST, DOCKER_CERT_PATH and the per-user socket.
  if (target === '') return new Docker()
  // An explicit target must win over DOCKER_HOST, whose parts the library would otherwise mix in.
  const nothingElse = { host: undefined, socketPath: undefined, port: undefined, pathPrefix: '/' }
  const socket = /^(?:\/\/)?(\/[^/].*)$/.exec(target)?.[1]
  if (socket !== undefined) return new Docker({ ...nothingElse, protocol: 'http', socketPath: socket })
  const tcp = /^tcp:\/\/(\[[0-9a-fA-F:]+\]|[^/:\s]+):(\d{1,5})\/?$/.exec(target)
  if (tcp) return new Docker({ ...nothingElse, protocol: 'http', host: tcp[1], port: Number(tcp[2]) })
  throw new Error(
    `ROOST_CONTAINERS_URL: ${JSON.stringify(url)} is none of docker:, docker:///path/to.sock, docker:tcp://host:port`,
  )
}

/** Asks the engine within a time limit and turns every failure into a `ContainerError`. */
export type Ask = <T>(
  what: string,
  call: (signal: AbortSignal) => Promise<T>,
  more?: { extraSeconds?: number; signal?: AbortSignal },
) => Promise<T>

export function createAsk(timeoutSeconds: number): Ask {
  return async (what, call, more = {}) => {
    const controller = new AbortController()
    const seconds = timeoutSeconds + (more.extraSeconds ?? 0)
    const giveUp = () =>
      controller.abort(new ContainerError('engine_down', `${what}: no answer within ${seconds} s`))
    const leave = () => controller.abort(new ContainerError('engine_down', `${what}: given up by the caller`))
    const timer = setTimeout(giveUp, seconds * 1000)
    if (more.signal?.aborted) leave()
    more.signal?.addEventListener('abort', leave, { once: true })
    try {
      // The race holds even where the library forgets the signal, so the limit is a promise.
      return await Promise.race([call(controller.signal), whenAborted(controller.signal)])
    } catch (error) {
      throw toContainerError(what, error)
    } finally {
      clearTimeout(timer)
      more.signal?.removeEventListener('abort', leave)
    }
  }
}

/** A plain question for which the library offers no way to take it back; `path` is the Engine API's. */
export function get<T>(docker: Client, path: string, abortSignal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const statusCodes = { 200: true, 404: 'not found', 500: 'server error' }
    docker.modem.dial(
      { path, method: 'GET', statusCodes, abortSignal },
      (error: unknown, answer: unknown) => {
        if (error) reject(error)
        // The caller names the shape that the Engine API documents for this path.
        else resolve(answer as T)
      },
    )
  })
}

/** Which decided answer an engine's failure is. Engines give sentences, not codes, for most of them. */
export function toContainerError(what: string, error: unknown): ContainerError {
  if (error instanceof ContainerError) return error
  const cause = error instanceof Error && error.cause instanceof ContainerError ? error.cause : null
  if (cause) return cause
  const message = `${what}: ${error instanceof Error ? error.message.trim() : String(error)}`
  return new ContainerError(faultOf(error, message), message, { cause: error })
}

function faultOf(error: unknown, message: string): ContainerError['fault'] {
  const status = httpStatusOf(error)
  // No status means that no answer came at all: refused, reset, no socket, no right to open it.
  if (status === null) return isConnectionFailure(error) ? 'engine_down' : 'engine_fault'
  if (/port is already allocated|address already in use|ports are not available/i.test(message))
    return 'port_taken'
  if (/name .*already in use/i.test(message)) return 'name_taken'
  if (status === 404 && /no such image|image not known/i.test(message)) return 'image_missing'
  if (status === 404 && /no such container|no container with/i.test(message)) return 'no_such_container'
  return 'engine_fault'
}

/** Status of the engine's HTTP answer, null when the failure is not an answer. */
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
