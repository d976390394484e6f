import type { Clock } from '../../kit/clock.ts'
import type { ContainerEvent, Containers } from '../../ports/containers/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { ContainerEnd, Observe } from './observe.ts'
import type { Operations } from './operations.ts'
import { type Repair, restartGraceMs } from './repair.ts'

/** Follows the engine's events for as long as the process lives. */
export type Watch = {
  start(): void
  /** Resolves when agents were compared with the engine for the first time, or that was given up. */
  compared(): Promise<void>
  /** Resolves when everything that was heard is dealt with. */
  close(): Promise<void>
}

export type WatchDeps = {
  clock: Pick<Clock, 'wait'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  containers: Pick<Containers, 'events'>
  observe: Observe
  operations: Pick<Operations, 'bringInLine'>
  repair: Repair
}

/** What is not in line by then is left to the repair, which looks every minute. */
const mostTries = 5

export function createWatch(deps: WatchDeps): Watch {
  const { clock, log, agentRecords, containers, observe, operations, repair } = deps
  const ending = new AbortController()
  const tasks = new Set<Promise<void>>()
  let following: Promise<void> = Promise.resolve()
  let passing: Promise<void> | null = null
  let passAgain = false
  const firstPass = Promise.withResolvers<void>()

  function inBackground(what: string, work: () => Promise<unknown>): void {
    const task = work()
      .then(() => {})
      .catch((error: unknown) => log.warn({ err: error }, what))
      .finally(() => tasks.delete(task))
    tasks.add(task)
  }

  /** One pass at a time; a resync during a pass asks for one more. */
  function requestPass(): void {
    if (passing) {
      passAgain = true
      return
    }
    inBackground('comparing agents with the engine failed; it is repeated', async () => {
      try {
        do {
          passAgain = false
          passing = repair.pass(ending.signal)
          await passing
        } while (passAgain && !ending.signal.aborted)
      } finally {
        passing = null
        firstPass.resolve()
      }
    })
  }

  async function agentOf(containerId: string): Promise<Agent | null> {
    const agents = await agentRecords.everyRow()
    return agents.find((agent) => agent.container_id === containerId) ?? null
  }

  async function onEnd(containerId: string, end: ContainerEnd): Promise<void> {
    const agent = await agentOf(containerId)
    if (!agent) return
    const { recorded, held } = await observe.exited(agent, end)
    if (recorded) bringInLine(agent, held ? 0 : restartGraceMs)
  }

  function bringInLine(agent: Agent, graceMs = 0): void {
    inBackground('an agent could not be brought in line with what its container did', async () => {
      if (graceMs > 0) await clock.wait(graceMs, ending.signal)
      for (let tries = 0; tries < mostTries && !ending.signal.aborted; tries += 1) {
        if ((await operations.bringInLine(agent.id)) !== null) return
        // Whoever is at it, a start that waits for its agent, may not see that the container has ended since.
        await clock.wait(restartGraceMs, ending.signal)
      }
    })
  }

  async function handle(event: ContainerEvent): Promise<void> {
    switch (event.type) {
      case 'resync':
        return requestPass()
      case 'started': {
        const agent = await agentOf(event.id)
        if (!agent) return
        if (agent.desired === 'running') await observe.started(agent, { at: event.at, from: 'event' })
        // Somebody else started what was stopped here.
        else bringInLine(agent)
        return
      }
      case 'exited':
        return onEnd(event.id, { ...event, from: 'event' })
      case 'removed':
        return onEnd(event.id, { at: event.at, from: 'event', exitCode: null, oomKilled: false })
    }
  }

  return {
    start() {
      following = (async () => {
        for await (const event of containers.events(ending.signal)) {
          // What one event brings about must not end the following of the others.
          await handle(event).catch((error: unknown) =>
            log.warn(
              { err: error, event: event.type },
              'an event of the container engine was not dealt with',
            ),
          )
        }
      })().catch((error: unknown) => log.warn({ err: error }, "the container engine's events have ended"))
    },
    compared: () => firstPass.promise,
    async close() {
      ending.abort()
      firstPass.resolve()
      await following
      await Promise.all(tasks)
    },
  }
}
