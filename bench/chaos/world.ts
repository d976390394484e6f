import { setTimeout as pause } from 'node:timers/promises'
import { type Platform, startPlatform } from '../../checks/acceptance/platform.ts'
import { run } from '../../cli/src/machine/run.ts'
import type { RestartableService } from '../../cli/src/testing/services.ts'
import { type Engine, openEngine } from './engine.ts'
import type { ChaosOptions } from './options.ts'
import type { AskedAgent } from './requests.ts'
import { openPostgres, openRedis, type Redis } from './services.ts'

/** A separate platform with its services. */
export type World = {
  platform: Platform
  agents: AskedAgent[]
  postgres: RestartableService | null
  redis: Redis | null
  /** The container engine, if it is a private one that may be broken. */
  engine: Engine | null
  [Symbol.asyncDispose](): Promise<void>
}

export const slotsPerAgent = 3
const sessionsPerAgent = 3

/** Opens the world. `tag` separates the agents of several worlds on one engine. Rejects when `interrupted` fires. */
export async function openWorld(
  options: ChaosOptions,
  tag: string,
  interrupted: AbortSignal,
): Promise<World> {
  const { scenario, database } = options
  await using stack = new AsyncDisposableStack()
  const postgres = database === 'postgres' ? await openPostgres() : null
  if (postgres) stack.defer(() => postgres.stop())
  const redis = scenario === 'redis' || scenario === 'all' ? await openRedis() : null
  if (redis) stack.use(redis)
  interrupted.throwIfAborted()
  const engine = scenario === 'engine' ? await openEngine() : null
  if (engine) stack.use(engine)
  else stack.defer(() => removeContainers(`agent-chaos-${tag}-`))
  interrupted.throwIfAborted()
  const platform = await startPlatform({
    env: {
      ROOST_LOG_LEVEL: 'info',
      ...(postgres ? { ROOST_DATABASE_URL: postgres.url } : {}),
      ...(redis ? { ROOST_REDIS_URL: redis.url } : {}),
      ...(engine ? { ROOST_CONTAINERS_URL: engine.url } : {}),
    },
  })
  stack.use(platform)
  // Unlike a session, a key survives an emptied Redis.
  platform.token = (await must(platform, 'POST', '/api/mcp/keys', { name: 'chaos' })).key
  const agents: AskedAgent[] = []
  for (const [index, runtime] of options.agents.entries()) {
    interrupted.throwIfAborted()
    agents.push(await createAgent(platform, `chaos-${tag}-${index + 1}`, runtime))
  }
  await untilReachable(platform, agents, 120_000, interrupted)
  interrupted.throwIfAborted()
  const resources = stack.move()
  return { platform, agents, postgres, redis, engine, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

/** Removes containers and volumes of a platform that did not shut down. */
async function removeContainers(prefix: string): Promise<void> {
  const docker = async (...args: string[]) => (await run('docker', args, { timeoutMs: 60_000 })).stdout
  const words = (text: string) => text.split('\n').filter(Boolean)
  const containers = words(await docker('ps', '-aq', '--filter', `name=^/${prefix}`))
  if (containers.length > 0) await docker('rm', '-f', '-v', ...containers)
  const volumes = words(await docker('volume', 'ls', '-q', '--filter', `name=^${prefix}`))
  if (volumes.length > 0) await docker('volume', 'rm', ...volumes)
}

async function createAgent(platform: Platform, name: string, runtime: string): Promise<AskedAgent> {
  // Only a template can select this runtime.
  const kind = runtime === 'codex' ? { template: 'codex-assistant' } : { runtime }
  await must(platform, 'POST', '/api/agents', { name, ...kind })
  await must(platform, 'PUT', `/api/agents/${name}/capacity`, { max_parallel_tasks: slotsPerAgent })
  const sessions: string[] = []
  // Processes of conversations stay alive, so leftovers of tasks are checked on the other agents.
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

/** Returns the milliseconds until every agent has responded over its link; null after `limitMs`. */
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
    const checks = [...missing].map(
      async (name) => (await answers(platform, name, signal)) && missing.delete(name),
    )
    await Promise.all(checks)
    if (missing.size > 0) await pause(50)
  }
  return performance.now() - started
}

async function answers(platform: Platform, agent: string, caller?: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.timeout(5_000)
  const signal = caller ? AbortSignal.any([caller, limit]) : limit
  const path = `/api/agents/${agent}/files`
  const reply = await platform.request('GET', path, undefined, { signal }).catch(() => null)
  return reply?.status === 200
}
