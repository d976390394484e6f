import type { FleetOutcome, RestartFleetBody, StopFleetBody } from '@roost/contracts/operations/fleet-acts'
import { fleetRestartProgress } from '@roost/contracts/operations/fleet-acts'
import type { Lifecycle } from '../../agents/lifecycle/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { timestamp } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import { type AloneDeps, createAlone } from './alone.ts'
import { chosen, outcomeOf, type Result, spared } from './rules.ts'
import { wordsOf } from './words.ts'

export type ActsDeps = AloneDeps & {
  log: Pick<Log, 'warn'>
  events: Pick<Outbox, 'signal' | 'on'>
  agentRecords: Pick<AgentRecords, 'all'>
  lifecycle: Pick<Lifecycle, 'restart' | 'stop'>
}

/** What is done with many agents, one after another. Both throw `fleet_restart_in_progress`. */
export type Acts = {
  restart(body: RestartFleetBody): Promise<FleetOutcome>
  stop(body: StopFleetBody): Promise<FleetOutcome>
  /** An emergency stop: what goes on here or in another process comes to an end after the present agent. */
  halt(): void
  close(): void
}

/** Inside only: tells the other processes. */
const halted = 'fleet.halted'

type Done = Pick<Result, 'result' | 'reason' | 'recreated' | 'credentials_injection' | 'skills_injection'>

export function createActs(deps: ActsDeps): Acts {
  const { clock, log, events, agentRecords, lifecycle } = deps
  const alone = createAlone(deps)
  const going = new Set<AbortController>()
  const endAll = () => {
    for (const act of going) act.abort()
  }
  const stopHearing = events.on(halted, endAll)

  function eachOf(body: RestartFleetBody | StopFleetBody, act: (agent: Agent) => Promise<Done>) {
    return alone(async (lost) => {
      const ending = new AbortController()
      going.add(ending)
      try {
        const signal = AbortSignal.any([lost, ending.signal])
        const agents = chosen(await agentRecords.all(), body)
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
        going.delete(ending)
      }
    })
  }

  async function one(agent: Agent, act: (agent: Agent) => Promise<Done>, signal: AbortSignal): Promise<Done> {
    const skipped = (reason: string): Done => ({ result: 'skipped', reason, recreated: false })
    if (signal.aborted) return skipped('The fleet was halted before its turn.')
    const why = spared(agent)
    if (why !== null) return skipped(why)
    try {
      return await act(agent)
    } catch (error) {
      log.warn({ err: error, agent: agent.name }, 'an agent of the fleet could not be restarted or stopped')
      return { result: 'failed', reason: wordsOf(error), recreated: false }
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
      events.signal({ type: halted, agent_names: [], agent_ids: [], audience: 'admin', fields: {} })
    },
    close: stopHearing,
  }
}
