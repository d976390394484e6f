import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Scenario } from './options.ts'
import type { Chance } from './random.ts'
import type { World } from './world.ts'

const execute = promisify(execFile)

/**
 * One kind of failure. `strike` resolves when the target is up again or recovers by itself. It calls `begins` when the
 * repair starts, from which the recovery time is measured.
 */
export type Blow = { name: string; weight: number; strike(begins: () => void): Promise<void> }

/** Returns the blows of a scenario. */
export function blowsOf(scenario: Scenario, world: World, chance: Chance): Blow[] {
  const kinds = {
    api: () => apiBlows(world, chance),
    agents: () => agentBlows(world, chance),
    postgres: () => postgresBlows(world),
    redis: () => redisBlows(world, chance),
    engine: () => engineBlows(world, chance),
  }
  if (scenario !== 'all') return kinds[scenario]()
  return [...kinds.api(), ...kinds.agents(), ...kinds.postgres(), ...kinds.redis()]
}

function apiBlows({ platform }: World, chance: Chance): Blow[] {
  /** Like the supervisor, retries a start that fails. */
  async function startAgain(begins: () => void): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        begins()
        return await platform.startApi()
      } catch (error) {
        if (attempt === 20) throw error
        await pause(250)
      }
    }
  }
  return [
    {
      name: 'API killed',
      weight: 8,
      async strike(begins) {
        await platform.killApi()
        await pause(
          chance.pick([
            [6, 0],
            [3, chance.between(0, 800)],
            [1, 4000],
          ]),
        )
        await startAgain(begins)
      },
    },
    {
      name: 'API killed twice, the second time during its start',
      weight: 2,
      async strike(begins) {
        await platform.killApi()
        const started = platform.startApi().catch(() => {})
        await pause(chance.between(0, 1500))
        await platform.killApi()
        await started
        await startAgain(begins)
      },
    },
  ]
}

function agentBlows({ agents, engine }: World, chance: Chance): Blow[] {
  /** Ignores errors: a container may still be down after an earlier blow. */
  const docker = (...args: string[]) =>
    execute('docker', [...(engine?.clientArguments ?? []), ...args]).catch(() => ({ stdout: '' }))
  const container = () => `agent-${chance.pick(agents.map((agent) => [1, agent] as const)).name}`
  // The container's root may not signal processes of other users.
  const inside = (script: string) => docker('exec', '-u', 'developer', container(), 'sh', '-c', script)
  const pidsOf = (pattern: string) =>
    `for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -Eq '${pattern}' && echo \${p#/proc/}; done`
  return [
    {
      name: 'container killed from outside',
      weight: 3,
      strike: async () => void (await docker('kill', container())),
    },
    {
      name: "container's first process killed",
      weight: 3,
      async strike() {
        const { stdout } = await docker('inspect', '--format', '{{.State.Pid}}', container())
        const pid = Number(stdout)
        // A stopped container has pid 0, which would signal this program's own group.
        if (pid > 1) process.kill(pid, 'SIGKILL')
      },
    },
    {
      name: 'agent program killed',
      weight: 2,
      strike: async () => void (await inside(`kill -9 $(${pidsOf('^node .*agent/src/start')})`)),
    },
    {
      name: 'a runtime killed',
      weight: 3,
      strike: async () => void (await inside(`kill -9 $(${pidsOf('^claude|/codex |^codex')} | tail -1)`)),
    },
    {
      name: 'container frozen',
      weight: 2,
      async strike() {
        const name = container()
        await docker('pause', name)
        await pause(chance.between(500, 8000))
        await docker('unpause', name)
      },
    },
  ]
}

function postgresBlows({ postgres }: World): Blow[] {
  if (!postgres) return []
  return [
    { name: 'PostgreSQL killed and started', weight: 3, strike: () => postgres.restart('immediate') },
    { name: 'PostgreSQL restarted gracefully', weight: 2, strike: () => postgres.restart('fast') },
  ]
}

function redisBlows({ redis }: World, chance: Chance): Blow[] {
  if (!redis) return []
  return [
    {
      name: 'Redis stopped',
      weight: 2,
      async strike() {
        await redis.end()
        await pause(chance.between(0, 4000))
        await redis.begin()
      },
    },
    {
      name: 'Redis frozen',
      weight: 2,
      async strike() {
        redis.freeze()
        await pause(chance.between(500, 8000))
        redis.thaw()
      },
    },
    { name: 'Redis emptied', weight: 2, strike: () => redis.empty() },
  ]
}

function engineBlows({ engine }: World, chance: Chance): Blow[] {
  if (!engine) return []
  return [
    {
      name: "engine's daemon killed",
      weight: 2,
      strike: () => engine.restart('SIGKILL', chance.between(0, 3000)),
    },
    { name: "engine's daemon restarted", weight: 1, strike: () => engine.restart('SIGTERM', 0) },
  ]
}
