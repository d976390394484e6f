import { defaultHistoryRules, type HistoryRules, historyRulesFault } from '@roost/contracts/link/history'
import type { Loop } from '../../background/loops.ts'
import type { IdentityChanges } from '../../identity/access/index.ts'
import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Meters } from '../../kit/platform-meters.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { type AttemptRecords, createAttemptRecords } from './adopt.ts'
import { createAroundRuns, type RunRecording } from './around-runs.ts'
import { type Filled, type FillRequest, fillWorkspace } from './fill.ts'
import { createForkOmissions, type Omissions } from './omissions.ts'
import { createMakeRecord, type MadeRecord, type RecordRequest } from './record.ts'
import { createRecordTurns } from './record-turns.ts'
import { createRestores, type RestoreService, type RestoresDeps } from './restores.ts'
import { createHistoryRetention, type HistoryRetentionDeps } from './retention.ts'
import { historyStore } from './store.ts'
import type { HistorySettingsRow, RecordRow } from './tables.ts'
import { createUsageMeter } from './usage.ts'

export type AgentHistoryDeps = Omit<HistoryRetentionDeps, 'usage' | 'log'> &
  Omit<RestoresDeps, 'log' | 'rulesOf' | 'inTurn' | 'makeRoom'> & {
    clock: Clock
    log: Parameters<typeof createAroundRuns>[0]['log'] & HistoryRetentionDeps['log'] & RestoresDeps['log']
    link: Pick<AgentLink, 'call' | 'wake' | 'isConnected' | 'isHere'>
    history: WorkspaceHistory
    meters: Pick<Meters, 'workspaceRecords' | 'workspaceRecordSeconds'>
    /** Quotas in bytes: of an agent without its own, and of all agents together. 0 means unlimited. */
    quotas: { agent: number; total: number }
    changes: Pick<IdentityChanges, 'on'>
    /** Before or after a run, the workspace was as in this record, which may be an earlier one. */
    recorded(agentId: string, recordId: string): void
  }

type Settings = {
  isOn: boolean
  rules: HistoryRules
  /** The agent's own quota; null for the installation's default, 0 for none. */
  quotaBytes: number | null
}

export type AgentHistory = {
  recording: RunRecording
  restores: RestoreService
  /** Records the workspace of a linked agent. See `createMakeRecord`. */
  make(agentId: string, request: RecordRequest): Promise<MadeRecord>
  /** What a fork does not get from a record. Throws `UnknownRecord`. */
  omissions(record: RecordRow, withCredentials: boolean): Promise<Omissions>
  /** See `fillWorkspace`. */
  fill(request: FillRequest): Promise<Filled>
  /** False if the agent is not recorded around its runs. */
  isOn(agentId: string): Promise<boolean>
  attempts: AttemptRecords
  loops: Loop[]
}

export function createAgentHistory(deps: AgentHistoryDeps): AgentHistory {
  const { db, clock, log, link, history, meters, quotas } = deps
  const store = historyStore(db)

  // Each run needs them several times.
  const cached = createCache({
    clock,
    maxAgeSeconds: 5,
    maxEntries: 10_000,
    load: async (agentId) => ({ agentId, ...settingsOf(await store.settings(agentId)) }),
  })
  deps.changes.on((change) => {
    if (change === 'all') cached.clear()
    else if ('agent_id' in change) cached.forget(({ agentId }) => agentId === change.agent_id)
  })
  const settings = async (agentId: string): Promise<Settings> =>
    (await cached.get(agentId)) ?? settingsOf(null)

  const isOn = async (agentId: string) => (await settings(agentId)).isOn

  const usage = createUsageMeter({
    ...{ history, clock },
    quotaOf: async (agentId) => (await settings(agentId)).quotaBytes ?? quotas.agent,
    totalQuota: quotas.total,
  })
  const { trim, makeRoom, refused, loops } = createHistoryRetention({ ...deps, usage })
  const rulesOf = async (agentId: string) => (await settings(agentId)).rules
  const { make, inTurn } = createMakeRecord({
    ...{ db, clock, link, history },
    turns: createRecordTurns(deps),
    rulesOf,
    roomOf: usage.room,
    received: usage.received,
    isWithinQuota: usage.isWithinQuota,
    makeRoom,
  })

  const restores = createRestores({ ...deps, rulesOf, inTurn, makeRoom: trim })
  const recording = createAroundRuns({
    ...{ db, clock, log, link, make },
    ...{ isOn, recorded: deps.recorded },
    full(agentId) {
      refused(agentId).catch((error: unknown) =>
        log.warn({ err: error, agent_id: agentId }, 'the alert about a full history could not be raised'),
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
    attempts: createAttemptRecords({ db, clock, history, usage }),
    omissions: createForkOmissions(history),
    fill: (request) => fillWorkspace({ link, history, clock }, request),
    isOn,
    loops: [...loops, ...restores.loops],
  }
}

/** Stored rules that are no longer valid count as the defaults. */
function settingsOf(row: HistorySettingsRow | null): Settings {
  const rules = row?.rules ? (JSON.parse(row.rules) as HistoryRules) : defaultHistoryRules
  return {
    isOn: row === null || row.is_on === 1,
    rules: historyRulesFault(rules) === null ? rules : defaultHistoryRules,
    quotaBytes: row?.quota_bytes ?? null,
  }
}
