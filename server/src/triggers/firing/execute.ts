import type {
  ExecuteTask,
  ExecuteTaskReply,
  ExecuteTasks,
  ExecuteTasksReply,
} from '@roost/contracts/triggers/firing'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import { type Idempotency, scopeOf } from '../../foundation/idempotency/index.ts'
import { accountPrincipal, type Caller, principalOn, type SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Dispatch, modelOf, type RunRequest, sourceOf, triggerOf } from '../../runs/dispatch/index.ts'
import { dollars, type ExecutionRow, type Executions, executionStore } from '../../runs/executions/index.ts'
import { type DueTime, fireStore } from '../fires/index.ts'
import type { Schedules } from '../schedules/index.ts'
import type { Fired } from './choice.ts'
import { accepted, createExecuteAll, notFired } from './execute-all.ts'
import type { Firing } from './service.ts'

export type ExecuteDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  agentRecords: Pick<AgentRecords, 'byName' | 'byId'>
  agentAccess: Pick<AgentAccess, 'resolveAgent'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'untilEnd'>
  idempotency: Pick<Idempotency, 'enter'>
  schedules: Pick<Schedules, 'byId' | 'byIds' | 'position'>
  firing: Pick<Firing, 'fire' | 'fireAll' | 'recordsOf' | 'rehearse'>
}

export type Execute = {
  /** For the scheduler: many fires of the clock, each with its own result. */
  allAsPlatform(body: ExecuteTasks): Promise<ExecuteTasksReply>
  /** For processes of the platform: the scheduler's fires, and runs of any kind. */
  asPlatform(body: ExecuteTask, call: Call): Promise<ExecuteTaskReply>
  /** For an agent with its own key. The trigger and schedule fields of the request are ignored. */
  asAgent(caller: Caller, body: ExecuteTask, call: Call): Promise<ExecuteTaskReply>
}
type Call = { key: string | undefined; signal: AbortSignal }
type Run = Pick<RunRequest, 'triggeredBy' | 'source' | 'links' | 'schedule' | 'attempt'>

export function createExecute(deps: ExecuteDeps): Execute {
  const { db, clock, dispatch, idempotency, schedules, firing } = deps

  async function suppressDeleted({
    schedule_id,
    due_at,
  }: DueTime): Promise<Exclude<Fired, { outcome: 'fired' }>> {
    const fired = { outcome: 'suppressed', reason: 'schedule_deleted' } as const
    const decision = { ...fired, execution_id: null, recorded_at: timestamp(clock.now()) }
    await fireStore(db).decide({ schedule_id, due_at, agent_id: '' }, decision)
    return fired
  }

  async function fireDue(body: ExecuteTask, due: DueTime, call: Call) {
    const schedule = await schedules.byId(due.schedule_id)
    if (!schedule) return notFired(await suppressDeleted(due))
    const executionId = body.execution_id ?? undefined
    const fired = await firing.fire(schedule, { cause: 'clock', dueAt: due.due_at, executionId })
    if (fired.outcome !== 'fired') return notFired(fired)
    return body.async_mode
      ? accepted(fired.executionId, fired.isReplay)
      : ended(fired.executionId, body, call)
  }

  /** The run that already has the requested id. Throws `conflict` when another caller requested it. */
  async function findReplay(agent: Agent, { execution_id }: ExecuteTask, as: Run): Promise<string | null> {
    const row = execution_id == null ? null : await executionStore(db).byId(execution_id)
    if (!row) return null
    const { agent: caller, principal } = as.source
    const isOwn = row.agent_id === agent.id && row.source_agent_id === (caller?.id ?? null)
    if (!isOwn || (caller && row.principal !== principalOn(agent.id, principal)))
      throw new Fault('conflict', 'The execution id belongs to another run.')
    return row.id
  }

  async function run(agent: Agent, body: ExecuteTask, as: Run, call: Call): Promise<ExecuteTaskReply> {
    const { message } = body
    if (message === undefined) throw invalidField(['message'], 'is needed without a due time', 'missing')
    const model = modelOf(body.model)
    const replay = await findReplay(agent, body, as)
    if (replay) return body.async_mode ? accepted(replay, true) : ended(replay, body, call)
    // The principal is part of the scope, so that neither agents nor the people they work for reuse each other's keys.
    // An id also counts as a key.
    const subject = `${agent.id}:${as.source.agent ? as.source.principal : ''}`
    const key = call.key ?? (body.execution_id ? `execution:${body.execution_id}` : undefined)
    const scope = scopeOf('execute-task', subject, key, body)
    const entered = await idempotency.enter(scope, async (claim) => {
      const context = await dispatch.checkAgent(agent.id)
      return dispatch.transaction(async (tx) => {
        const executionId = body.execution_id ?? newId()
        // Taken before the run is enqueued: the second of two requests with one id waits here.
        const receipt = { status: 200, body: accepted(executionId), receipt: true }
        await claim.take(tx, { execution_id: executionId }, receipt)
        await dispatch.enqueue(tx, context, {
          ...as,
          executionId,
          agentId: agent.id,
          kind: 'task',
          message,
          model,
          timeoutSeconds: body.timeout_seconds ?? null,
          allowedTools: body.allowed_tools ?? null,
        })
        return executionId
      })
    })
    // Only `accepted` bodies are stored under this family.
    const id = entered.replay
      ? (entered.replay.body as { execution_id: string }).execution_id
      : entered.accepted
    return body.async_mode ? accepted(id, entered.replay ? true : undefined) : ended(id, body, call)
  }

  /** Waits for the end of a run, at most twice its timeout. Throws `sync_wait_exceeded`. */
  async function ended(id: string, body: ExecuteTask, { signal }: Call): Promise<ExecuteTaskReply> {
    const waited = new AbortController()
    const seconds = 2 * (body.timeout_seconds ?? 7200)
    const timer = clock.wait(seconds * 1000, waited.signal).then(() => waited.abort())
    try {
      const until = AbortSignal.any([signal, waited.signal])
      const row = await deps.executions.untilEnd(id, until)
      if (row) return endedReply(row)
    } finally {
      waited.abort()
      await timer
    }
    throw new Fault('sync_wait_exceeded', undefined, { status: 'queued_timeout', execution_id: id })
  }

  async function asPlatform(body: ExecuteTask, call: Call): Promise<ExecuteTaskReply> {
    const { schedule_id, due_at } = body
    if (schedule_id && due_at) return fireDue(body, { schedule_id, due_at }, call)
    const agent = await deps.agentRecords.byName(body.agent_name)
    if (!agent) throw new Fault('agent_not_found')
    const schedule = schedule_id ? await schedules.byId(schedule_id) : null
    if (schedule_id && schedule?.agent_id !== agent.id) throw new Fault('schedule_not_found')
    const as: Run = {
      triggeredBy: body.triggered_by,
      source: {
        principal: schedule?.principal ?? accountPrincipal(agent.owner_id),
        userId: null,
        userEmail: null,
        agent: null,
        key: null,
      },
      links: { scheduleId: schedule_id ?? null },
      schedule: body.schedule_name
        ? { name: body.schedule_name, nextRunAt: body.schedule_next_run ?? null }
        : null,
      ...(body.attempt ? { attempt: { number: body.attempt, firstExecutionId: null } } : {}),
    }
    return run(agent, body, as, call)
  }

  return {
    asPlatform,
    allAsPlatform: createExecuteAll({ ...deps, suppressDeleted }),

    async asAgent(caller, body, call) {
      const own = agentOf(caller)
      const self = await deps.agentRecords.byId(own.agentId)
      const target = self && (await deps.agentAccess.resolveAgent(own.caller, body.agent_name))
      if (!target) throw new Fault('agent_not_found')
      const as: Run = {
        triggeredBy: triggerOf(own.caller, target.agent.id, { way: 'manual', viaMcp: false }),
        source: sourceOf(own.caller, self.name),
      }
      return run(target.agent, body, as, call)
    },
  }
}

function agentOf(caller: Caller): { caller: SignedIn; agentId: string } {
  if (caller.kind === 'anonymous') throw new Fault('not_authenticated')
  const agentId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
  if (agentId === null) throw new Fault('agent_identity_required')
  return { caller, agentId }
}

function endedReply(row: ExecutionRow): ExecuteTaskReply {
  return {
    execution_id: row.id,
    status: row.status,
    response: row.response,
    cost: dollars(row.cost_micros),
    cost_estimated: row.cost_estimated === 1,
    context_used: row.context_used,
    context_max: row.context_max,
    session_id: row.session_id,
    error: row.error,
  }
}
