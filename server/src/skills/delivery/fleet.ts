import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { FleetReport } from '@roost/contracts/skills/library'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { createTurns } from '../../kit/turns.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { assignmentStore } from '../assignments/index.ts'
import type { Delivery } from './service.ts'
import { fleetReportStore } from './store.ts'

export type FleetDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'byId'>
  delivery: Pick<Delivery, 'inject'>
  isEnabled(): boolean
  alerts: Pick<Alerts, 'raise'>
}

export type Fleet = {
  /** Updates every agent with skills in the background. False if automatic updates are disabled. */
  changed(trigger: string, commit: string | null): boolean
  lastReport(): Promise<FleetReport | null>
  settled(): Promise<void>
}

const maxConcurrent = 4

export function createFleet({ db, clock, log, agentRecords, delivery, isEnabled, alerts }: FleetDeps): Fleet {
  let working: Promise<void> = Promise.resolve()

  async function run(trigger: string, commit_sha: string | null): Promise<void> {
    const report: FleetReport = { trigger, commit_sha, updated: [], skipped: [], failed: [] }
    const inTurn = createTurns(maxConcurrent)
    const ids = new Set((await assignmentStore(db).holders()).map(({ agent_id }) => agent_id))
    await Promise.all([...ids].map((id) => inTurn(() => update(id, report))))
    await db.atomically(async (tx) => {
      await fleetReportStore(tx).write(report, timestamp(clock.now()))
      if (report.failed.length > 0) await alerts.raise(tx, failedAlert(report))
    })
  }

  async function update(id: string, report: FleetReport): Promise<void> {
    const agent = await agentRecords.byId(id)
    if (!agent) return
    try {
      const { skills_injected, skills_failed } = await delivery.inject(id, false)
      if (skills_failed > 0) report.failed.push(agent.name)
      else if (skills_injected > 0) report.updated.push(agent.name)
      else report.skipped.push(agent.name)
    } catch (error) {
      // Stopped agents are updated at their next start, and busy ones by their current worker.
      const isLater = isFault(error, 'agent_stopped', 'injection_in_progress')
      if (isLater) report.skipped.push(agent.name)
      else report.failed.push(agent.name)
    }
  }

  return {
    changed(trigger, commit) {
      if (!isEnabled()) return false
      working = working
        .then(() => run(trigger, commit))
        .catch((error: unknown) => log.warn({ err: error }, 'the skills of agents could not be updated'))
      return true
    },
    lastReport: () => fleetReportStore(db).last(),
    settled: () => working,
  }
}

function failedAlert({ failed, commit_sha }: FleetReport): PlatformAlert {
  return {
    agentId: null,
    kind: 'fleet_reinject_failed',
    title: `${failed.length} agents did not get the newest skills`,
    question: `Their skills are as they were: ${failed.slice(0, 20).join(', ')}.`,
    priority: 'medium',
    context: { agents: failed.slice(0, 100), commit_sha },
  }
}
