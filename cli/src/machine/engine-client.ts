import { request } from 'node:http'

/** Where a container engine listens. */
export type EngineAddress = { socketPath: string } | { host: string; port: number }

/** `denied`: the engine exists, but this user may not use it. */
export type EngineAnswer =
  | { type: 'responding'; name: string; version: string }
  | { type: 'denied'; socketPath: string }
  | { type: 'unresponsive'; reason: string }

/** Parses a `docker:` URL; `docker:` alone means `DOCKER_HOST` or the default socket. Null for other forms. */
export function engineAddress(url: string, env: NodeJS.ProcessEnv): EngineAddress | null {
  const target = url.replace(/^docker:/, '') || env.DOCKER_HOST || '/var/run/docker.sock'
  const socketPath = /^(?:unix:)?(?:\/\/)?(\/[^/].*)$/.exec(target)?.[1]
  if (socketPath) return { socketPath }
  const tcp = /^(?:tcp|http):\/\/(\[[^\]]+\]|[^/:]+):(\d+)\/?$/.exec(target)
  return tcp ? { host: (tcp[1] ?? '').replace(/^\[|\]$/g, ''), port: Number(tcp[2]) } : null
}

/** Asks the engine for its version; the timeout is five seconds. */
export async function askEngine(address: EngineAddress): Promise<EngineAnswer> {
  try {
    const { status, body } = await get(address, '/version')
    if (status !== 200) return { type: 'unresponsive', reason: `it answers with status ${status}` }
    const { Version, Components } = parseVersion(body)
    const isPodman = Components?.some(({ Name }) => /podman/i.test(Name ?? '')) ?? false
    return { type: 'responding', name: isPodman ? 'Podman' : 'Docker', version: Version ?? 'unknown' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EACCES' && 'socketPath' in address)
      return { type: 'denied', socketPath: address.socketPath }
    return { type: 'unresponsive', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** OCI runtimes that the engine lists, sorted, and its default; the default is null for engines without one. */
export type EngineRuntimes = { listed: string[]; default: string | null }

/** Throws when the engine does not answer. */
export async function readRuntimes(address: EngineAddress): Promise<EngineRuntimes> {
  const { status, body } = await get(address, '/info')
  if (status !== 200) throw new Error(`the engine answers with status ${status}`)
  // The engine defines this format; both fields are optional.
  const info = JSON.parse(body) as { Runtimes?: Record<string, unknown> | null; DefaultRuntime?: string }
  return { listed: Object.keys(info.Runtimes ?? {}).sort(), default: info.DefaultRuntime || null }
}

type EngineVersion = { Version?: string; Components?: { Name?: string }[] }

function parseVersion(body: string): EngineVersion {
  const value: unknown = JSON.parse(body)
  // The engine defines this format; every field is optional.
  return typeof value === 'object' && value !== null ? (value as EngineVersion) : {}
}

/** Sends a GET request to the engine, or to a platform on this machine. */
export function get(address: EngineAddress, path: string, timeoutMs = 5_000) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const outgoing = request({ ...address, path, headers: { host: 'localhost' } }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      response.on('error', reject)
    })
    outgoing.setTimeout(timeoutMs, () =>
      outgoing.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}
