import { setTimeout as pause } from 'node:timers/promises'
import { type Platform, startPlatform } from '../../checks/acceptance/platform.ts'
import { run } from '../../cli/src/machine/run.ts'
import type { RestartableService } from '../../cli/src/testing/services.ts'
import { type Engine, openEngine } from './engine.ts'
import type { ChaosOptions } from './options.ts'
import type { AskedAgent } from './requests.ts'
import { openPostgres, openRedis, type Redis } from './services.ts'

/** A platform of its own with everything it stands on. */
export type World = {
  platform: Platform
  agents: AskedAgent[]
  postgres: RestartableService | null
  redis: Redis | null
  /** The engine that the agents run on, where it is our own to break. */
  engine: Engine | null
  [Symbol.asyncDispose](): Promise<void>
}

export const slotsPerAgent = 3
const sessionsPerAgent = 3

/** `tag` keeps the agents of several such worlds apart on one engine. Rejects when it is called off on the way. */
export async function openWorld(options: ChaosOptions, tag: string, calledOff: AbortSignal): Promise<World> {
  const { scenario, database } = options
  await using stack = new AsyncDisposableStack()
  const postgres = database === 'postgres' ? await openPostgres() : null
  if (postgres) stack.defer(() => postgres.stop())
  const redis = scenario === 'redis' || scenario === 'all' ? await openRedis() : null
  if (redis) stack.use(redis)
  calledOff.throwIfAborted()
  const engine = scenario === 'engine' ? await openEngine() : null
  if (engine) stack.use(engine)
  else stack.defer(() => removeContainers(`agent-chaos-${tag}-`))
  calledOff.throwIfAborted()
  const platform = await startPlatform({
    env: {
      ROOST_LOG_LEVEL: 'info',
      ...(postgres ? { ROOST_DATABASE_URL: postgres.url } : {}),
      ...(redis ? { ROOST_REDIS_URL: redis.url } : {}),
      ...(engine ? { ROOST_CONTAINERS_URL: engine.url } : {}),
    },
  })
  stack.use(platform)
  // Unlike a session it outlives a Redis that forgets everything.
  platform.token = (await must(platform, 'POST', '/api/mcp/keys', { name: 'chaos' })).key
  const agents: AskedAgent[] = []
  for (const [index, runtime] of options.agents.entries()) {
    calledOff.throwIfAborted()
    agents.push(await createAgent(platform, `chaos-${tag}-${index + 1}`, runtime))
  }
  await untilReachable(platform, agents, 120_000, calledOff)
  calledOff.throwIfAborted()
  const kept = stack.move()
  return { platform, agents, postgres, redis, engine, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** A platform that could not be asked at the end has left them. */
async function removeContainers(prefix: string): Promise<void> {
  const docker = async (...args: string[]) => (await run('docker', args, { timeoutMs: 60_000 })).stdout
  const words = (text: string) => text.split('\n').filter(Boolean)
  const containers = words(await docker('ps', '-aq', '--filter', `name=^/${prefix}`))
  if (containers.length > 0) await docker('rm', '-f', '-v', ...containers)
  const volumes = words(await docker('volume', 'ls', '-q', '--filter', `name=^${prefix}`))
  if (volumes.length > 0) await docker('volume', 'rm', ...volumes)
}

async function createAgent(platform: Platform, name: string, runtime: string): Promise<AskedAgent> {
  // This runtime is chosen by a template alone.
  const kind = runtime === 'codex' ? { template: 'codex-assistant' } : { runtime }
  await must(platform, 'POST', '/api/agents', { name, ...kind })
  await must(platform, 'PUT', `/api/agents/${name}/capacity`, { max_parallel_tasks: slotsPerAgent })
  const sessions: string[] = []
  // Their processes live on, so that what is left behind by tasks is looked for on the other agents.
  for (let count = 0; runtime === 'claude-code' && count < sessionsPerAgent; count += 1) {
    sessions.push((await must(platform, 'POST', `/api/agents/${name}/sessions`, {})).id)
  }
  return { name, runtime, sessions }
}

async function must(platform: Platform, method: string, path: string, body: object) {
  const { status, json, text } = await platform.request(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  return json
}

/** Milliseconds until every agent has answered a question over its link; null when that is not within `limitMs`. */
export async function untilReachable(
  platform: Platform,
  agents: readonly { name: string }[],
  limitMs: number,
  signal?: AbortSignal,
): Promise<number | null> {
  const started = performance.now()
  const missing = new Set(agents.map(({ name }) => name))
  while (missing.size > 0) {
    if (signal?.aborted || performance.now() - started > limitMs) return null
    const asked = [...missing].map(
      async (name) => (await answers(platform, name, signal)) && missing.delete(name),
    )
    await Promise.all(asked)
    if (missing.size > 0) await pause(50)
  }
  return performance.now() - started
}

async function answers(platform: Platform, agent: string, given?: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.timeout(5_000)
  const signal = given ? AbortSignal.any([given, limit]) : limit
  const path = `/api/agents/${agent}/files`
  const reply = await platform.request('GET', path, undefined, { signal }).catch(() => null)
  return reply?.status === 200
}
