import { Agent } from 'node:http'
import { Redis } from 'ioredis'
import { type Replicas, startReplicas } from '../../checks/acceptance/replicas.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import { type PlayedAgent, play } from '../queue/agents.ts'
import { backendsMs, processorMs } from '../queue/costs.ts'
import { mintKey, post } from '../queue/side.ts'

/** Processor time in milliseconds per 1,000 runs, and the time that they took. */
export type Spent = { roostMs: number; databaseMs: number; redisMs: number; totalMs: number; seconds: number }

export type Side = AsyncDisposable & {
  count: number
  replicas: Replicas
  agents: readonly PlayedAgent[]
  /** Posts this many tasks through the proxy while agents work on them, until all have ended. */
  spend(runs: number): Promise<Spent>
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
  const http = new Agent({ keepAlive: true, maxSockets: 20 })
  stack.defer(() => http.destroy())
  const database = new URL(databaseUrl).pathname.slice(1)

  async function clocks() {
    const [roost, databaseMs, info] = await Promise.all([
      Promise.all(replicas.pids().map(processorMs)),
      backendsMs(database),
      redis.info('cpu'),
    ])
    const redisMs = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].reduce(
      (sum, [, seconds]) => sum + Number(seconds) * 1000,
      0,
    )
    return { roostMs: roost.reduce((sum, each) => sum + each, 0), databaseMs, redisMs }
  }

  const resources = stack.move()
  return {
    count,
    replicas,
    agents,
    async spend(runs) {
      const before = await clocks()
      const linkUrl = `ws://127.0.0.1:${platform.internalPort}/link`
      const playing = play({ linkUrl, agents, slots, runs, workMs: () => 20 })
      const started = performance.now()
      await Promise.all(
        agents.map(async ({ name }) => {
          for (let number = 1; number <= runs / agents.length; number += 1)
            await post(http, `${platform.url}/api/agents/${name}/task`, key, `task #${number}`)
        }),
      )
      await playing
      const seconds = (performance.now() - started) / 1000
      const after = await clocks()
      const per = (name: keyof typeof after) => ((after[name] - before[name]) * 1000) / runs
      const [roostMs, databaseMs, redisMs] = [per('roostMs'), per('databaseMs'), per('redisMs')]
      return { roostMs, databaseMs, redisMs, totalMs: roostMs + databaseMs + redisMs, seconds }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
