/** The image's health check. Exits with 0 if the container's program answers or has just worked. */
import { readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'

const heartbeatLimitMs = 30_000

try {
  const role = (await readFile('/tmp/roost-role', 'utf8')).trim()
  await check(role)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}

async function check(role: string): Promise<void> {
  const { env } = process
  switch (role) {
    case 'api':
      return expectStatus(
        { host: reachable(env.ROOST_HOST), port: env.ROOST_PORT || 8000, path: '/health' },
        200,
      )
    case 'mcp':
      // Without a key the server refuses; that it does so shows that it works.
      return expectStatus(
        { host: reachable(env.ROOST_MCP_HOST), port: env.ROOST_MCP_PORT || 8080, path: '/mcp' },
        401,
      )
    case 'engine-filter':
      return expectStatus(
        { socketPath: env.ROOST_ENGINE_FILTER_SOCKET || '/run/roost/engine.sock', path: '/_ping' },
        200,
      )
    case 'scheduler': {
      const { mtimeMs } = await stat(env.ROOST_HEARTBEAT_FILE || '/tmp/roost-heartbeat')
      const age = Date.now() - mtimeMs
      if (age > heartbeatLimitMs)
        throw new Error(`The scheduler last worked ${Math.round(age / 1000)} s ago.`)
      return
    }
    default:
      throw new Error(`There is no health check for ${JSON.stringify(role)}.`)
  }
}

/** A wildcard address is reached over loopback. */
function reachable(host = ''): string {
  return ['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
}

type Target = { host?: string; port?: number | string; socketPath?: string; path: string }

function expectStatus(target: Target, expected: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request({ ...target, agent: false, timeout: 8_000 }, (reply) => {
      reply.resume()
      if (reply.statusCode === expected) resolve()
      else reject(new Error(`${target.path} answered ${reply.statusCode} instead of ${expected}.`))
    })
    call.on('timeout', () => call.destroy(new Error(`${target.path} did not answer within 8 s.`)))
    call.on('error', reject)
    call.end()
  })
}
