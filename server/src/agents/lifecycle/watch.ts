import type { Clock } from '../../kit/clock.ts'
import type { ContainerEvent, Containers } from '../../ports/containers/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { ContainerEnd, Observe } from './observe.ts'
import type { Operations } from './operations.ts'
import { type Repair, restartGraceMs } from './repair.ts'

/** Follows the engine's events for the lifetime of the process. */
export type Watch = {
  start(): void
  /** Resolves after the first comparison with the engine, or when that was abandoned. */
  compared(): Promise<void>
  /** Resolves when all received events are handled. */
  close(): Promise<void>
}

export type WatchDeps = {
  clock: Pick<Clock, 'now' | 'wait'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  containers: Pick<Containers, 'events'>
  observe: Observe
  operations: Pick<Operations, 'reconcile'>
  repair: Repair
  takeoverDue(agent: Agent): Promise<number | null>
}

/** Attempts before the repair loop, which runs every minute, takes over. */
const maxAttempts = 5

export function createWatch(deps: WatchDeps): Watch {
  const { clock, log, agentRecords, containers, observe, operations, repair } = deps
  const ending = new AbortController()
  const tasks = new Set<Promise<void>>()
  /** Lost agents that wait for their takeover. */
  const leaving = new Set<string>()
  let following: Promise<void> = Promise.resolve()
  let passing: Promise<void> | null = null
  let passAgain = false
  const firstPass = Promise.withResolvers<void>()

  function inBackground(failure: string, work: () => Promise<unknown>): void {
    const task = work()
      .then(() => {})
      .catch((error: unknown) => log.warn({ err: error }, failure))
      .finally(() => tasks.delete(task))
    tasks.add(task)
  }

  /** One pass at a time; a resync during a pass queues one more. */
  function requestPass(): void {
    if (passing) {
      passAgain = true
      return
    }
    inBackground('could not compare agents with the engine; will retry', async () => {
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
    if (recorded) reconcile(agent, held || end.isEvicted ? 0 : restartGraceMs)
  }

  function reconcile(agent: Agent, graceMs = 0): void {
    inBackground('could not reconcile an agent after a container event', async () => {
      if (graceMs > 0) await clock.wait(graceMs, ending.signal)
      for (let attempt = 0; attempt < maxAttempts && !ending.signal.aborted; attempt += 1) {
        if ((await operations.reconcile(agent.id)) !== null) return
        // A concurrent operation, such as a start that waits for its agent, may miss that the container has
        // ended.
        await clock.wait(restartGraceMs, ending.signal)
      }
    })
  }

  /** Starts a lost agent elsewhere as soon as its limit has passed. The repair loop does so after a restart. */
  function awaitTakeover(agentId: string): void {
    if (leaving.has(agentId)) return
    leaving.add(agentId)
    inBackground('could not start an agent of a lost node elsewhere', async () => {
      try {
        for (;;) {
          const agent = (await agentRecords.everyRow()).find(({ id }) => id === agentId)
          const due = agent ? await deps.takeoverDue(agent) : null
          if (due === null || ending.signal.aborted) return
          const waitMs = due - clock.now().getTime()
          if (waitMs <= 0 && (await operations.reconcile(agentId)) !== null) return
          await clock.wait(waitMs > 0 ? waitMs : restartGraceMs, ending.signal)
        }
      } finally {
        leaving.delete(agentId)
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
        // Completes the start of a container that waited; stops one that should be stopped.
        if (agent.desired === 'stopped' || agent.waiting) reconcile(agent)
        else await observe.started(agent, { at: event.at, from: 'event' })
        return
      }
      case 'exited':
        return onEnd(event.id, { ...event, from: 'event' })
      case 'waiting': {
        const agent = await agentOf(event.id)
        if (!agent) return
        const { status: state, reason, canMove, at: since } = event
        await observe.waiting(agent, { state, reason, since, canMove })
        if (state === 'lost') awaitTakeover(agent.id)
        return
      }
      case 'removed':
        return onEnd(event.id, { at: event.at, from: 'event', exitCode: null, oomKilled: false })
    }
  }

  return {
    start() {
      following = (async () => {
        for await (const event of containers.events(ending.signal)) {
          // A failing event must not stop the handling of later ones.
          await handle(event).catch((error: unknown) =>
            log.warn({ err: error, event: event.type }, 'could not handle an event of the container engine'),
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
