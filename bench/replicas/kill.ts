import { Agent, request } from 'node:http'
import { nextTick } from 'node:process'
import type { Side } from './side.ts'

export type Through = {
  sent: number
  /** Requests whose connection to the killed process was cut. */
  cut: number
  /** Every other request without a successful reply. */
  failed: string[]
}

const clients = 8
const before = 400
const afterwards = 1200

/** Sends reads, writes and tasks through the proxy while one API process and its MCP server are killed. */
export async function requestsThroughKill({ replicas, agents }: Side): Promise<Through> {
  const { platform } = replicas
  const http = new Agent({ keepAlive: true, maxSockets: clients })
  const through: Through = { sent: 0, cut: 0, failed: [] }
  const isKilled = Promise.withResolvers<void>()
  let killedAt = Number.POSITIVE_INFINITY

  async function client(own: number): Promise<void> {
    for (let number = own; through.sent < Math.min(killedAt + afterwards, 10_000); number += clients) {
      through.sent += 1
      if (through.sent === before) void kill()
      const { name = '' } = agents[number % agents.length] ?? {}
      const [method, path, body] = requestOf(number, name)
      const outcome = await send(http, `${platform.url}${path}`, { method, token: platform.token, body })
      if (outcome === 'cut') through.cut += 1
      else if (outcome !== 'ok') through.failed.push(`${method} ${path}: ${outcome}`)
      await new Promise<void>((done) => nextTick(done))
    }
  }
  async function kill(): Promise<void> {
    await replicas.replicas.at(-1)?.kill()
    killedAt = through.sent
    isKilled.resolve()
  }

  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
  await isKilled.promise
  http.destroy()
  return through
}

function requestOf(number: number, agent: string): [method: string, path: string, body: object | null] {
  if (number % 4 === 0) return ['PUT', '/api/users/me/preferences/bench', { value: number }]
  if (number % 4 === 1)
    return ['POST', `/api/agents/${agent}/task`, { message: `task #${number}`, async_mode: true }]
  return ['GET', number % 4 === 2 ? '/api/agents' : `/api/agents/${agent}/executions?limit=5`, null]
}

/**
 * Returns `ok`, `cut` or what went wrong. nginx answers 502 for a connection that ended before the reply, and cannot
 * repeat a POST then.
 */
function send(
  agent: Agent,
  url: string,
  { method, token, body }: { method: string; token: string; body: object | null },
): Promise<string> {
  const text = body === null ? '' : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': text.length }),
  }
  return new Promise((resolve) => {
    const sent = request(url, { method, agent, headers }, (response) => {
      let reply = ''
      const { statusCode = 0 } = response
      response.setEncoding('utf8').on('data', (chunk) => {
        reply += chunk
      })
      response.on('end', () => {
        if (statusCode < 400) resolve('ok')
        else resolve(statusCode === 502 ? 'cut' : `${statusCode} ${reply.slice(0, 200)}`)
      })
      response.on('error', () => resolve('cut'))
    })
    sent.on('error', (error) => resolve(error.message))
    sent.end(text)
  })
}
