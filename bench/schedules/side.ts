import { startPlatform } from '../../checks/acceptance/platform.ts'
import { type SchedulerProcess, startScheduler } from '../../checks/acceptance/scheduler-process.ts'
import { newId } from '../../server/src/kit/ids.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import type { Schedule } from '../../server/src/triggers/schedules/index.ts'
import type { ScheduleTables } from '../../server/src/triggers/schedules/tables.ts'

export type Load = { total: number; due: number; agents: number; minute: Date }
export type Burst = {
  /** Milliseconds from the due time to the creation of the run's record. */
  delays: number[]
  /** Due times without exactly one record and one run. */
  faults: number
}

/** One platform with its scheduler and agents without containers. */
export async function openSide(databaseUrl: string | null) {
  await using stack = new AsyncDisposableStack()
  const platform = stack.use(
    await startPlatform({
      env: {
        ROOST_CONTAINERS_URL: 'fake:',
        ROOST_LOG_LEVEL: 'warn',
        ...(databaseUrl === null ? {} : { ROOST_DATABASE_URL: databaseUrl }),
      },
    }),
  )
  const db = await openDatabase(databaseUrl ?? `sqlite:${platform.dataDir}/roost.db`, silentLog)
  stack.defer(() => db.close())
  const scheduler: SchedulerProcess = stack.use(await startScheduler(platform))
  const tables = db.withTables<ScheduleTables & { agents: { id: string; name: string } }>()
  const resources = stack.move()

  return {
    schedulerPid: scheduler.pid,

    /** Inserts rows directly, because the API would take minutes; the scheduler reads them like any others. */
    async add({ total, due, agents, minute }: Load): Promise<void> {
      for (let index = 0; index < agents; index += 1) {
        const made = await platform.request('POST', '/api/agents', { name: `clock-${index}` })
        if (made.status >= 300) throw new Error(made.text)
      }
      const ids = (
        await tables.selectFrom('agents').select('id').where('name', 'like', 'clock-%').execute()
      ).map(({ id }) => id)
      const cron = `${minute.getUTCMinutes()} ${minute.getUTCHours()} * * *`
      const rows = Array.from({ length: total }, (_, number) =>
        scheduleRow(number, {
          agentId: ids[number % ids.length] ?? '',
          cron: number < due ? cron : '0 3 1 1 *',
        }),
      )
      await db.atomically(async (tx) => {
        const on = tx.withTables<ScheduleTables>()
        await on.updateTable('schedule_changes').set({ last_position: total }).execute()
        for (let from = 0; from < rows.length; from += 200) {
          await on
            .insertInto('schedules')
            .values(rows.slice(from, from + 200))
            .execute()
        }
      })
      await this.until(async () => (await this.status()).jobs_count === total)
    },

    async status(): Promise<{ jobs_count: number }> {
      return (await platform.request('GET', '/api/agents/scheduler/status')).json
    },

    async until(isSo: () => Promise<boolean>): Promise<void> {
      const deadline = Date.now() + 180_000
      while (!(await isSo())) {
        if (Date.now() > deadline) throw new Error('The state was not reached in time.')
        await new Promise((done) => setTimeout(done, 500))
      }
    },

    /** Returns the outcome of the minute; call it after the minute. */
    async burst({ due, minute }: Load): Promise<Burst> {
      const dueAt = minute.toISOString()
      const fires = await db
        .withTables<{ fires: { due_at: string; outcome: string | null } }>()
        .selectFrom('fires')
        .select('outcome')
        .where('due_at', '=', dueAt)
        .execute()
      const runs = await tables
        .selectFrom('executions')
        .select('created_at')
        .where('triggered_by', '=', 'schedule')
        .execute()
      const decided = fires.filter(({ outcome }) => outcome === 'fired').length
      return {
        delays: runs.map(({ created_at }) => Date.parse(created_at) - minute.getTime()),
        faults: Math.abs(due - decided) + Math.abs(due - runs.length),
      }
    },

    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

function scheduleRow(number: number, of: { agentId: string; cron: string }): Schedule {
  const at = new Date().toISOString()
  return {
    id: newId(),
    number,
    agent_id: of.agentId,
    name: `schedule ${number}`,
    description: null,
    cron_expression: of.cron,
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
    created_by: 'bench',
    created_by_id: null,
    principal: `agent:${of.agentId}`,
    validation_principal: null,
    disabled_reason: null,
    created_at: at,
    updated_at: at,
    armed_at: at,
    deleted_at: null,
    position: number + 1,
    webhook_token_hash: null,
  }
}
