import { request } from 'node:http'

/** Where a container engine listens. */
export type EngineAddress = { socketPath: string } | { host: string; port: number }

/** `denied`: it is there, and this user may not talk to it. */
export type EngineAnswer =
  | { type: 'answers'; name: string; version: string }
  | { type: 'denied'; socketPath: string }
  | { type: 'silent'; why: string }

/** The address in a `docker:` URL; `docker:` alone means `DOCKER_HOST` or the default socket. Null: another form. */
export function engineAddress(url: string, env: NodeJS.ProcessEnv): EngineAddress | null {
  const target = url.replace(/^docker:/, '') || env.DOCKER_HOST || '/var/run/docker.sock'
  const socketPath = /^(?:unix:)?(?:\/\/)?(\/[^/].*)$/.exec(target)?.[1]
  if (socketPath) return { socketPath }
  const tcp = /^(?:tcp|http):\/\/(\[[^\]]+\]|[^/:]+):(\d+)\/?$/.exec(target)
  return tcp ? { host: (tcp[1] ?? '').replace(/^\[|\]$/g, ''), port: Number(tcp[2]) } : null
}

/** One question to the engine, within five seconds. */
export async function askEngine(address: EngineAddress): Promise<EngineAnswer> {
  try {
    const { status, body } = await get(address, '/version')
    if (status !== 200) return { type: 'silent', why: `it answers with status ${status}` }
    const { Version, Components } = readVersionAnswer(body)
    const isPodman = Components?.some(({ Name }) => /podman/i.test(Name ?? '')) ?? false
    return { type: 'answers', name: isPodman ? 'Podman' : 'Docker', version: Version ?? 'unknown' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EACCES' && 'socketPath' in address)
      return { type: 'denied', socketPath: address.socketPath }
    return { type: 'silent', why: error instanceof Error ? error.message : String(error) }
  }
}

type VersionAnswer = { Version?: string; Components?: { Name?: string }[] }

function readVersionAnswer(body: string): VersionAnswer {
  const value: unknown = JSON.parse(body)
  // The engine's own format; every field is optional.
  return typeof value === 'object' && value !== null ? (value as VersionAnswer) : {}
}

/** A GET over the engine's socket. Also serves questions to a platform that runs on this machine. */
export function get(address: EngineAddress, path: string, timeoutMs = 5_000) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const asked = request({ ...address, path, headers: { host: 'localhost' } }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
      answer.on('error', reject)
    })
    asked.setTimeout(timeoutMs, () => asked.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)))
    asked.on('error', reject)
    asked.end()
  })
}
