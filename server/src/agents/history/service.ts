import { defaultHistoryRules, type HistoryRules, historyRulesFault } from '@roost/contracts/link/history'
import type { Loop } from '../../background/loops.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Meters } from '../../kit/platform-meters.ts'
import { createTurnsByKey } from '../../kit/turns.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { type AttemptRecords, createAttemptRecords } from './adopt.ts'
import { createAroundRuns, type RunRecording } from './around-runs.ts'
import { type Filled, type FillRequest, fillWorkspace } from './fill.ts'
import { createMakeRecord, type MadeRecord, type RecordRequest } from './record.ts'
import { createRestores, type RestoreService, type RestoresDeps } from './restores.ts'
import { createHistoryRetention, type HistoryRetentionDeps } from './retention.ts'
import { historyStore } from './store.ts'
import type { HistorySettingsRow } from './tables.ts'
import { createUses } from './use.ts'

export type AgentHistoryDeps = Omit<HistoryRetentionDeps, 'uses' | 'log'> &
  Omit<RestoresDeps, 'log' | 'rulesOf' | 'inTurn' | 'makeRoom'> & {
    clock: Clock
    log: Parameters<typeof createAroundRuns>[0]['log'] & HistoryRetentionDeps['log'] & RestoresDeps['log']
    link: Pick<AgentLink, 'call' | 'wake' | 'isConnected' | 'isHere'>
    history: WorkspaceHistory
    meters: Pick<Meters, 'workspaceRecords' | 'workspaceRecordSeconds'>
    /** Quotas in bytes: of an agent without its own, and of all agents together. 0 means unlimited. */
    quotas: { agent: number; total: number }
  }

export type HistorySettings = {
  is_on: boolean
  undo_failed: boolean
  rules: HistoryRules
  /** The agent's own quota; null for the installation's default, 0 for none. */
  quota_bytes: number | null
}

export type AgentHistory = {
  recording: RunRecording
  restores: RestoreService
  /** Records the workspace of a linked agent. See `createMakeRecord`. */
  make(agentId: string, request: RecordRequest): Promise<MadeRecord>
  /** See `fillWorkspace`. */
  fill(request: FillRequest): Promise<Filled>
  settings(agentId: string): Promise<HistorySettings>
  /** The rules must be valid. */
  putSettings(agentId: string, settings: HistorySettings): Promise<void>
  attempts: AttemptRecords
  loops: Loop[]
}

export function createAgentHistory(deps: AgentHistoryDeps): AgentHistory {
  const { db, clock, log, link, history, meters, quotas } = deps
  const store = historyStore(db)

  async function settings(agentId: string): Promise<HistorySettings> {
    return settingsOf(await store.settings(agentId))
  }

  const uses = createUses({
    history,
    quotaOf: async (agentId) => (await settings(agentId)).quota_bytes ?? quotas.agent,
    totalQuota: quotas.total,
  })
  const { trim, loops } = createHistoryRetention({ ...deps, uses })
  const rulesOf = async (agentId: string) => (await settings(agentId)).rules
  const { make, inTurn } = createMakeRecord({
    ...{ db, clock, link, history },
    turns: createTurnsByKey(),
    rulesOf,
    roomOf: uses.room,
    received: uses.received,
  })

  const restores = createRestores({ ...deps, rulesOf, inTurn, makeRoom: trim })
  const recording = createAroundRuns({
    ...{ db, clock, log, link, make },
    isOn: async (agentId) => (await settings(agentId)).is_on,
    full(agentId) {
      trim(agentId).catch((error: unknown) =>
        log.warn({ err: error, agent_id: agentId }, 'old records of a workspace could not be removed'),
      )
    },
    made(result, seconds) {
      meters.workspaceRecords.add([result])
      meters.workspaceRecordSeconds.observe([result], seconds)
    },
  })

  return {
    recording: {
      ...recording,
      // The restore records the workspace, and wakes the agent at its end.
      mayClaim: async (agentId, runs) => !restores.isWorking(agentId) && recording.mayClaim(agentId, runs),
    },
    restores,
    make,
    attempts: createAttemptRecords({ db, clock, history, uses }),
    fill: (request) => fillWorkspace({ link, history, clock }, request),
    settings,
    async putSettings(agentId, { is_on, undo_failed, rules, quota_bytes }) {
      await store.putSettings({
        ...{ agent_id: agentId, is_on: is_on ? 1 : 0, undo_failed: undo_failed ? 1 : 0, quota_bytes },
        rules: JSON.stringify(rules),
        updated_at: timestamp(clock.now()),
      })
    },
    loops: [...loops, ...restores.loops],
  }
}

/** Stored rules that are no longer valid count as the defaults. */
function settingsOf(row: HistorySettingsRow | null): HistorySettings {
  const rules = row?.rules ? (JSON.parse(row.rules) as HistoryRules) : defaultHistoryRules
  return {
    is_on: row === null || row.is_on === 1,
    undo_failed: row?.undo_failed === 1,
    rules: historyRulesFault(rules) === null ? rules : defaultHistoryRules,
    quota_bytes: row?.quota_bytes ?? null,
  }
}
