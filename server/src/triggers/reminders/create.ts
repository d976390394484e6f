import { createHash } from 'node:crypto'
import { type CreateReminder, maxPending, maxPerDay } from '@roost/contracts/triggers/reminders'
import { agentStore } from '../../agents/records/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { accountPrincipal, type KeyCaller, type SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { callerDepth, holderOf, modelOf, sourceOf } from '../../runs/dispatch/index.ts'
import { queueStore } from '../../runs/executions/index.ts'
import { fireTime } from './rules.ts'
import { type ReminderRow, reminderStore } from './store.ts'

export type CreateDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  limits: Pick<RateLimits, 'use'>
}

const daySeconds = 24 * 3600

/**
 * Sets a reminder. Without an idempotency key, an equal pending reminder of the same caller is returned instead.
 * `within` runs in the transaction that creates one. Throws `invalid_model`,
 * `validation_error`, `rate_limited`, `daily_cap_reached`.
 */
export function createCreate({ db, clock, limits }: CreateDeps) {
  return async function create(
    { caller, agent }: { caller: SignedIn; agent: { id: string; name: string } },
    request: CreateReminder,
    { hasKey, within }: { hasKey: boolean; within: (tx: Tx, row: ReminderRow) => Promise<void> },
  ): Promise<{ row: ReminderRow; isNew: boolean }> {
    const now = clock.now()
    const fire_at = fireTime(request, now)
    const isItself = caller.kind === 'key' && caller.key.scope === 'agent'
    const source = sourceOf(caller, isItself ? agent.name : null)
    const fresh: ReminderRow = {
      ...initialState,
      id: newId(),
      agent_id: agent.id,
      message: request.message,
      fire_at,
      next_attempt_at: fire_at,
      model: modelOf(request.model),
      timeout_seconds: request.timeout_seconds,
      allowed_tools: request.allowed_tools && JSON.stringify(request.allowed_tools),
      source: JSON.stringify({ ...source, depth: await callerDepth(db, source) }),
      derived_key: hasKey ? null : derivedKey(caller, request),
      created_at: timestamp(now),
    }
    await limits.use(rateRules.reminder, agent.id)
    return db.atomically(async (tx) => {
      // Serializes the calls of an agent, so that concurrent ones keep the limits.
      if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
      const store = reminderStore(tx)
      const twin = fresh.derived_key && (await store.derived(agent.id, fresh.derived_key))
      if (twin) return { row: twin, isNew: false }
      await refuseTooMany(tx, agent, now)
      const row = { ...fresh, origin_session_id: isItself ? await sessionOfTurn(tx, agent.id, caller) : null }
      await store.insert(row)
      await within(tx, row)
      return { row, isNew: true }
    })
  }
}

/** The request as received: a repeated delay is the same request, although it yields another time. */
function derivedKey(caller: SignedIn, { message, fire_at, delay_seconds }: CreateReminder): string {
  return createHash('sha256')
    .update(JSON.stringify([holderOf(caller), message, fire_at, delay_seconds]))
    .digest('hex')
}

async function refuseTooMany(tx: Tx, agent: { id: string; name: string }, now: Date): Promise<void> {
  const store = reminderStore(tx)
  if ((await store.countPending(agent.id)) >= maxPending) {
    throw new Fault(
      'rate_limited',
      `${maxPending} reminders of the agent "${agent.name}" are pending already.`,
    )
  }
  const first = await store.createdBefore(agent.id, maxPerDay)
  const wait = first === null ? 0 : Math.ceil((Date.parse(first) - now.getTime()) / 1000) + daySeconds
  if (wait > 0) {
    const detail = `${maxPerDay} reminders of the agent "${agent.name}" were created within a day.`
    throw new Fault('daily_cap_reached', detail, { retry_after_seconds: wait })
  }
}

/**
 * The conversation in whose turn, or in a task of it, the agent sets the reminder. The agent's own key does not say
 * which run asks: only the owner's turn counts, and only while nothing else runs that could be the caller.
 */
async function sessionOfTurn(tx: Tx, agentId: string, caller: KeyCaller): Promise<string | null> {
  const running = await queueStore(tx).runningOf(agentId)
  const find = (id: string | null) => running.find((run) => run.id === id) ?? null
  if (caller.run) {
    const calling = find(caller.run.execution_id)
    const turn = calling?.triggered_by === 'self_task' ? find(calling.parent_execution_id) : calling
    return turn?.kind === 'chat' && turn.principal === calling?.principal ? turn.session_id : null
  }
  const turn = running.find(({ kind }) => kind === 'chat')
  if (turn?.principal !== accountPrincipal(caller.user.id)) return null
  const isAlone = running.every(
    ({ id, triggered_by, parent_execution_id }) =>
      id === turn.id || (triggered_by === 'self_task' && parent_execution_id === turn.id),
  )
  return isAlone ? turn.session_id : null
}

/** The initial state of a reminder. */
const initialState = {
  status: 'pending',
  origin_session_id: null,
  execution_id: null,
  fire_attempts: 0,
  error: null,
  fired_at: null,
  cancelled_at: null,
  deliver_until: null,
} satisfies Partial<ReminderRow>
