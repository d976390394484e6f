import type { EmergencyStop } from '@roost/contracts/operations/fleet-acts'
import type { Lifecycle } from '../../agents/lifecycle/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import type { Log } from '../../ports/log.ts'
import type { Schedules } from '../../triggers/schedules/index.ts'
import type { Acts } from './acts.ts'
import { errorText } from './rules.ts'

export type EmergencyDeps = {
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'all'>
  lifecycle: Pick<Lifecycle, 'stop'>
  /** Ends an agent's loops and cancels its running, waiting, held and retried runs. Returns the number of runs. */
  haltRuns(agentId: string, by: SignedIn): Promise<number>
  schedules: Pick<Schedules['admin'], 'pause'>
  acts: Pick<Acts, 'halt'>
}

/** Containers that are stopped concurrently. */
const concurrency = 8

type Failure = EmergencyStop['errors'][number]

/** Halts the fleet or one agent; continues after failures. Throws `agent_not_found`. */
export function createEmergencyStop(deps: EmergencyDeps) {
  const { log, agentRecords, lifecycle, haltRuns, schedules, acts } = deps

  return async (by: SignedIn, agentName: string | null): Promise<EmergencyStop> => {
    const errors: Failure[] = []
    async function attempt<T>(
      step: Failure['step'],
      agent: Agent | null,
      work: () => Promise<T>,
    ): Promise<T | null> {
      try {
        return await work()
      } catch (error) {
        log.warn({ err: error, step, agent: agent?.name }, 'a step of an emergency stop failed')
        errors.push({ step, agent_name: agent?.name ?? null, message: errorText(error) })
        return null
      }
    }
    const agents = (await agentRecords.all()).filter(({ name }) => agentName === null || name === agentName)
    if (agentName !== null && agents.length === 0) throw new Fault('agent_not_found')

    if (agentName === null) acts.halt()
    const schedules_paused = await attempt('pause_schedules', null, () => schedules.pause(agentName))
    let executions_cancelled = 0
    const cancelAll = async () => {
      for (const agent of agents) {
        const cancel = () => haltRuns(agent.id, by)
        executions_cancelled += (await attempt('cancel_executions', agent, cancel)) ?? 0
      }
    }
    await cancelAll()
    let agents_stopped = 0
    const toStop = agents
      .filter(({ desired, status }) => desired === 'running' || status !== 'stopped')
      .values()
    const worker = async () => {
      for (const agent of toStop) {
        if (await attempt('stop_agent', agent, () => lifecycle.stop(agent.id))) agents_stopped += 1
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    // Cancels runs requested meanwhile. A stopped agent accepts no more.
    await cancelAll()

    const success = errors.length === 0
    const counts = { schedules_paused: schedules_paused ?? 0, executions_cancelled, agents_stopped }
    return { success, message: messageOf(counts, errors.length), ...counts, errors }
  }
}

function messageOf(
  counts: Pick<EmergencyStop, 'schedules_paused' | 'executions_cancelled' | 'agents_stopped'>,
  failures: number,
): string {
  const done = `${counts.schedules_paused} schedules were paused, ${counts.executions_cancelled} runs cancelled, ${counts.agents_stopped} agents stopped.`
  return failures === 0 ? done : `${done} ${failures} steps failed: see errors.`
}
