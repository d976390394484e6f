import {
  type FleetOutcome,
  fleetRestartProgress,
  type RestartFleetBody,
  type StopFleetBody,
} from '@roost/contracts/operations/fleet-acts'
import type { Lifecycle } from '../../agents/lifecycle/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import { type HoldDeps, holdLease } from '../../foundation/leases/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Log } from '../../ports/log.ts'
import { errorText, outcomeOf, type Result, selectAgents, skipReason } from './rules.ts'

export type ActsDeps = HoldDeps & {
  log: Pick<Log, 'warn'>
  events: Pick<Outbox, 'signal' | 'on' | 'follow'>
  agentRecords: Pick<AgentRecords, 'all'>
  lifecycle: Pick<Lifecycle, 'restart' | 'stop'>
}

/** Acts on many agents, one after another. Both throw `fleet_restart_in_progress`. */
export type Acts = {
  restart(body: RestartFleetBody): Promise<FleetOutcome>
  stop(body: StopFleetBody): Promise<FleetOutcome>
  /** For an emergency stop: ends a running act, here or in another process, after its present agent. */
  halt(): void
  close(): void
}

/** Internal signal to other processes. */
const haltSignal = 'fleet.halted'

type ActResult = Pick<
  Result,
  'result' | 'reason' | 'recreated' | 'credentials_injection' | 'skills_injection'
>

export function createActs(deps: ActsDeps): Acts {
  const { clock, log, events, agentRecords, lifecycle } = deps
  const exclusively = createExclusive(deps)
  const running = new Set<AbortController>()
  const endAll = () => {
    for (const act of running) act.abort()
  }
  const unsubscribe = events.on(haltSignal, endAll)

  function eachOf(body: RestartFleetBody | StopFleetBody, act: (agent: Agent) => Promise<ActResult>) {
    return exclusively(async (lost) => {
      const ending = new AbortController()
      running.add(ending)
      const unfollow = await events.follow()
      try {
        const signal = AbortSignal.any([lost, ending.signal])
        const agents = selectAgents(await agentRecords.all(), body)
        const results: Result[] = []
        for (const agent of agents) {
          const done = await one(agent, act, signal)
          results.push({ agent: agent.name, previous_status: agent.status, ...done })
          const fields = {
            done: results.length,
            total: agents.length,
            agent_name: agent.name,
            result: done.result,
          }
          const type = fleetRestartProgress.name
          events.signal({ type, agent_names: [], agent_ids: [], audience: 'admin', fields })
        }
        return outcomeOf(results, timestamp(clock.now()))
      } finally {
        running.delete(ending)
        unfollow()
      }
    })
  }

  async function one(
    agent: Agent,
    act: (agent: Agent) => Promise<ActResult>,
    signal: AbortSignal,
  ): Promise<ActResult> {
    const skipped = (reason: string): ActResult => ({ result: 'skipped', reason, recreated: false })
    if (signal.aborted) return skipped('The fleet was halted before its turn.')
    const skip = skipReason(agent)
    if (skip !== null) return skipped(skip)
    try {
      return await act(agent)
    } catch (error) {
      log.warn({ err: error, agent: agent.name }, 'an agent of the fleet could not be restarted or stopped')
      return { result: 'failed', reason: errorText(error), recreated: false }
    }
  }

  return {
    restart: (body) =>
      eachOf(body, async ({ id }) => {
        const reply = await lifecycle.restart(id, body)
        const { recreated, credentials_injection, skills_injection } = reply
        return { result: 'success', recreated, credentials_injection, skills_injection }
      }),
    stop: (body) =>
      eachOf(body, async ({ id, desired, status }) => {
        if (desired === 'stopped' && status === 'stopped')
          return { result: 'skipped', reason: 'It is stopped already.', recreated: false }
        await lifecycle.stop(id)
        return { result: 'success', recreated: false }
      }),
    halt() {
      endAll()
      events.signal({ type: haltSignal, agent_names: [], agent_ids: [], audience: 'admin', fields: {} })
    },
    close: unsubscribe,
  }
}

/** After a crash of the process, the next restart can begin after this time. */
const leaseSeconds = 30

/**
 * Runs one act on the fleet at a time, over all processes. Throws `fleet_restart_in_progress`. The signal aborts when
 * the lease is lost.
 */
function createExclusive(deps: HoldDeps) {
  return async function exclusively<T>(work: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const hold = await holdLease(deps, { name: 'fleet.acts', holder: newId(), seconds: leaseSeconds })
    if (!hold) throw new Fault('fleet_restart_in_progress')
    try {
      return await work(hold.lost)
    } finally {
      await hold.release()
    }
  }
}
