import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Replicas, startReplicas } from '../../checks/acceptance/replicas.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import { type PlayedAgent, play } from '../queue/agents.ts'
import { backendsMs, processorMs, wakesOf } from '../queue/costs.ts'
import { mintKey, post } from '../queue/side.ts'

/**
 * Processor time in milliseconds, of the processes of Roost, of PostgreSQL and of Redis. `wakes`: how often a main
 * thread of Roost began to work.
 */
export type Spent = {
  roostMs: number
  databaseMs: number
  redisMs: number
  totalMs: number
  seconds: number
  wakes: number
}

export type Side = AsyncDisposable & {
  count: number
  replicas: Replicas
  agents: readonly PlayedAgent[]
  /**
   * Posts this many tasks through the proxy while agents work on them, until all have ended: `perSecond`, or as fast
   * as possible.
   */
  run(runs: number, perSecond?: number): Promise<void>
  /** Measures all processes while `act` runs. */
  spend(act: () => Promise<void>): Promise<Spent>
}

const agentCount = 20
const slots = 3

/** An installation with so many API processes, as many schedulers and MCP servers, and agents without containers. */
export async function openReplicas(count: number): Promise<Side> {
  await using stack = new AsyncDisposableStack()
  const env = {
    ROOST_CONTAINERS_URL: 'fake:',
    ROOST_LOG_LEVEL: 'info',
    ROOST_QUEUE_DEPTH: '1000',
  }
  const replicas = stack.use(await startReplicas({ count, schedulers: count, env }))
  const { platform, databaseUrl, redisUrl } = replicas
  const db = await openDatabase(databaseUrl, silentLog)
  stack.defer(() => db.close())
  const redis = new Redis(redisUrl)
  stack.defer(() => redis.disconnect())
  const agents: PlayedAgent[] = []
  for (let index = 0; index < agentCount; index += 1) {
    const name = `replica-${String(index + 1).padStart(2, '0')}`
    const first = platform.at(replicas.replicas[0]?.url ?? '')
    for (const [method, path, body] of [
      ['POST', '/api/agents', { name }],
      ['PUT', `/api/agents/${name}/capacity`, { max_parallel_tasks: slots }],
    ] as const) {
      const reply = await first.request(method, path, body)
      if (reply.status >= 300) throw new Error(reply.text)
    }
    agents.push({ name, key: await mintKey(db, name) })
  }
  const { key } = (await platform.request('POST', '/api/mcp/keys', { name: 'bench' })).json
  // nginx closes a connection after 75 seconds without a request.
  const http = new Agent({ keepAlive: true, maxSockets: 20, timeout: 30_000 })
  stack.defer(() => http.destroy())
  const database = new URL(databaseUrl).pathname.slice(1)

  async function clocks() {
    const sumOf = async (measure: (pid: number) => Promise<number>) =>
      (await Promise.all(replicas.pids().map(measure))).reduce((sum, each) => sum + each, 0)
    const [roostMs, wakes, databaseMs, info] = await Promise.all([
      sumOf(processorMs),
      sumOf(wakesOf),
      backendsMs(database),
      redis.info('cpu'),
    ])
    const redisMs = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].reduce(
      (sum, [, seconds]) => sum + Number(seconds) * 1000,
      0,
    )
    return { roostMs, wakes, databaseMs, redisMs }
  }

  const resources = stack.move()
  return {
    count,
    replicas,
    agents,
    async run(runs, perSecond) {
      const linkUrl = `ws://127.0.0.1:${platform.internalPort}/link`
      const playing = play({ linkUrl, agents, slots, runs, workMs: () => 20 })
      const each = runs / agents.length
      await Promise.all(
        agents.map(async ({ name }, index) => {
          const started = performance.now()
          for (let number = 0; number < each; number += 1) {
            if (perSecond !== undefined) {
              const dueMs = ((number + index / agents.length) * agents.length * 1000) / perSecond
              await pause(Math.max(0, dueMs - (performance.now() - started)))
            }
            await post(http, `${platform.url}/api/agents/${name}/task`, key, `task #${number}`)
          }
        }),
      )
      await playing
    },
    async spend(act) {
      const before = await clocks()
      const started = performance.now()
      await act()
      const seconds = (performance.now() - started) / 1000
      const after = await clocks()
      const of = (name: keyof typeof after) => after[name] - before[name]
      const [roostMs, databaseMs, redisMs] = [of('roostMs'), of('databaseMs'), of('redisMs')]
      const totalMs = roostMs + databaseMs + redisMs
      return { roostMs, databaseMs, redisMs, totalMs, seconds, wakes: of('wakes') }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
