import type { FailedRun } from '../../../agents/history/index.ts'
import { agentStore, blankRow, createAgentRecords } from '../../../agents/records/index.ts'
import { createIdempotency, createWorkStates } from '../../../foundation/idempotency/index.ts'
import { createScheduleTimes } from '../../../kit/schedule-times.ts'
import { createFakeAgentLink } from '../../../ports/agent-link/fake.ts'
import type { Db } from '../../../ports/database/port.ts'
import { memoryEphemeral } from '../../../ports/ephemeral/memory.ts'
import { silentLog } from '../../../ports/log.ts'
import type { ExecutionRow } from '../../../runs/executions/index.ts'
import { createTestAlerts } from '../../../test/alerts.ts'
import { createTestClock } from '../../../test/clock.ts'
import {
  agentFact,
  linked,
  type RunPlatformOptions,
  resultOf,
  startRunPlatform,
} from '../../../test/run-platform.ts'
import { createSchedules, type Schedule } from '../../schedules/index.ts'
import { type SchedulePatch, scheduleStore } from '../../schedules/store.ts'
import type { ScheduleTables } from '../../schedules/tables.ts'
import { createExecute } from '../execute.ts'
import { createFiring } from '../service.ts'

export const dueAt = '2026-01-05T09:00:00.000Z'

/** A platform process that fires schedules of the agent `a1`. `fakes` replace the features around it. */
export async function startFiringPlatform(db: Db, over: Partial<RunPlatformOptions> = {}) {
  const clock = createTestClock(dueAt)
  const link = createFakeAgentLink()
  const platform = await startRunPlatform({ db, clock, link, ...over })
  const { hooks, dispatch, executions, events, agents } = platform
  const ephemeral = memoryEphemeral({ clock, log: silentLog })
  const agentRecords = createAgentRecords({ db, ephemeral, clock })
  const row = { ...blankRow('scout', dueAt), id: 'a1', state: 'ready' as const, owner_id: 'u1', owner: 'ann' }
  await db.atomically((tx) => agentStore(tx).insert(row))
  const noHooks = { onCreated() {}, onForked() {}, onDeleting() {}, onAccessEnded() {} }
  const schedules = createSchedules({
    db,
    clock,
    events,
    agentRecords,
    agentAccess: async () => null,
    hooks: noHooks,
    retentionDays: () => 30,
    lastFires: (ids) => firing.lastFires(ids),
  })
  const { alerts, raised } = createTestAlerts()
  const fakes = {
    alerts: raised,
    delivered: [] as string[],
    undone: [] as FailedRun[],
    frozenAfter: null as number | null,
    unreachable: new Set<string>(),
    /** Principals without the rights of an owner. */
    sharers: new Set<string>(),
  }
  const works = createWorkStates()
  // As tasks do while their runs have not ended.
  works.register(async ({ execution_id }) => (execution_id === null ? null : { state: 'open' }))
  const lateness: number[] = []
  const firing = createFiring({
    fireLateness: (seconds) => void lateness.push(seconds),
    ...{ db, clock, events, link, hooks, agentRecords, dispatch, schedules },
    log: silentLog,
    registryHooks: noHooks,
    settle: executions.settle,
    runContextOf: async (id) => agents.get(id) ?? null,
    principalFor: async (_, id) => ({
      id,
      access: fakes.sharers.has(id) ? 'write' : 'owner',
      credentials: true,
    }),
    times: createScheduleTimes(),
    frozenAfter: async () => fakes.frozenAfter,
    reachesAgent: async (_agent, email) => !fakes.unreachable.has(email),
    alerts,
    undoFailed: async (_tx, failed) => void fakes.undone.push(failed),
    deliver: async (_tx, run) => void fakes.delivered.push(`${run.email} ${run.row.status}`),
  })
  const execute = createExecute({
    ...{ db, clock, log: silentLog, dispatch, executions, schedules, firing, agentRecords },
    agentAccess: {
      async resolveAgent(_caller, name) {
        const found = await agentRecords.byName(name)
        return found && { agent: found, relation: 'self', mayWrite: true }
      },
    },
    idempotency: createIdempotency({ db, clock, log: silentLog, workState: works.ask }),
  })

  return {
    ...platform,
    ...{ clock, link, schedules, firing, execute, fakes, lateness },

    async patchAgent(patch: { autonomy_enabled?: 0 | 1; circuit_breaker_enabled?: 0 | 1 }): Promise<void> {
      await db.atomically(async (tx) => {
        await agentStore(tx).update('a1', patch)
        agentRecords.changed(tx, 'a1')
      })
    },
    setStatus: (status: 'running' | 'stopped') => void agents.set('a1', agentFact({ status })),

    async addSchedule(patch: Partial<Schedule> = {}): Promise<Schedule> {
      const id = patch.id ?? 's1'
      const values = { ...blankSchedule, id, ...patch }
      const tables = db.withTables<ScheduleTables>()
      return tables.insertInto('schedules').values(values).returningAll().executeTakeFirstOrThrow()
    },
    async change(id: string, patch: SchedulePatch): Promise<void> {
      await db.atomically((tx) => scheduleStore(tx).update(id, patch))
    },

    /** The runs of a schedule, oldest first. */
    runs(): Promise<ExecutionRow[]> {
      return db
        .withTables<ScheduleTables>()
        .selectFrom('executions')
        .selectAll()
        .orderBy('created_at')
        .orderBy('queue_number')
        .execute()
    },

    /** The agent claims the next run and reports its end. */
    async work(over: Parameters<typeof resultOf>[1] = {}): Promise<string> {
      const { runs } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
      const [run] = runs
      if (!run) throw new Error('No run was handed out.')
      await dispatch.handlers.started(linked, { t: 'started', ...heldOf(run), pid: 1 })
      const answer = await dispatch.handlers.result(linked, resultOf(run, over))
      if (!answer.accepted) throw new Error(`The result was refused: ${answer.reason}`)
      return run.execution_id
    },
  }
}

function heldOf({ execution_id, claim_token }: { execution_id: string; claim_token: number }) {
  return { execution_id, claim_token }
}

const blankSchedule: Schedule = {
  id: 's1',
  number: 1,
  agent_id: 'a1',
  name: 'nightly',
  description: null,
  cron_expression: '0 9 * * *',
  message: 'look at the mails',
  enabled: 1,
  is_paused: 0,
  timezone: 'UTC',
  misfire_policy: 'run_once',
  timeout_seconds: null,
  allowed_tools: null,
  model: null,
  deliver_to_workspace_email: null,
  max_retries: 0,
  retry_delay_seconds: 60,
  validation_enabled: 0,
  validation_prompt: null,
  validation_timeout_seconds: 120,
  undo_failed: 0,
  created_by: 'ann',
  created_by_id: 'u1',
  principal: 'user:u1',
  validation_principal: null,
  disabled_reason: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  armed_at: '2026-01-01T00:00:00.000Z',
  deleted_at: null,
  position: 1,
  webhook_token_hash: null,
}
