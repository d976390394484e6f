import {
  type CreateSchedule,
  scheduleCreated,
  scheduleDeleted,
  scheduleUpdated,
  type UpdateSchedule,
} from '@roost/contracts/triggers/schedules'
import { type Agent, agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type AccessEnd, principalOf, principalOn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { modelOf } from '../../runs/dispatch/index.ts'
import {
  type By,
  changesMessage,
  checkCap,
  checkMayChange,
  checkOwnMessage,
  checkRoom,
  checkTimes,
  isOwner,
  personOf,
  recipientOf,
} from './rules.ts'
import { type Schedule, type SchedulePatch, scheduleStore } from './store.ts'

/** The agent of a schedule with its current name. */
export type Owned = Pick<Agent, 'id' | 'name'>
/** Called in the transaction that deletes a schedule. */
export type Deleted = (tx: Tx, schedule: Schedule, now: Date) => Promise<void>

export type ChangeDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  deleted: Deleted
}

/** All throw `schedule_not_found` for unknown and deleted schedules, and for those of other agents. */
export type Changes = {
  create(agent: Owned, by: By, fields: CreateSchedule): Promise<Schedule>
  update(agent: Owned, by: By, id: string, fields: UpdateSchedule): Promise<Schedule>
  /** Throws `schedule_timeout_exceeds_agent_cap` if the cap was lowered while the schedule was disabled. */
  setEnabled(agent: Owned, id: string, enabled: boolean): Promise<Schedule>
  remove(agent: Owned, id: string): Promise<void>
  /** Disables the schedules that these principals set up. */
  accessEnded(tx: Tx, end: AccessEnd): Promise<void>
}

export function createChanges({ db, clock, events, deleted }: ChangeDeps): Changes {
  async function appendEvent(tx: Tx, agent: Owned, type: string, schedule: Schedule): Promise<void> {
    const fields = {
      schedule_id: schedule.id,
      schedule_name: schedule.name,
      enabled: schedule.enabled === 1,
    }
    await events.append(tx, { type, agent_names: [agent.name], agent_ids: [agent.id], fields }, clock.now())
  }

  async function find(tx: Tx, agent: Owned, id: string): Promise<Schedule> {
    const schedule = await scheduleStore(tx).byId(id)
    if (schedule?.agent_id !== agent.id) throw new Fault('schedule_not_found')
    return schedule
  }

  async function update(tx: Tx, agent: Owned, schedule: Schedule, patch: SchedulePatch): Promise<Schedule> {
    const changed = await scheduleStore(tx).update(schedule.id, patch)
    if (!changed) throw new Fault('schedule_not_found')
    await appendEvent(tx, agent, scheduleUpdated.name, changed)
    return changed
  }

  return {
    create(agent, by, fields) {
      checkTimes(fields)
      const model = modelOf(fields.model)
      const recipient = recipientOf(by, fields.deliver_to_workspace_email, null) ?? null
      const person = personOf(by)
      return db.atomically(async (tx) => {
        const store = scheduleStore(tx)
        await store.lockChanges()
        checkCap(fields.timeout_seconds, await capOf(tx, agent))
        checkRoom(fields.message, await store.messagesLength(agent.id, null))
        const now = timestamp(clock.now())
        const created = await store.insert({
          ...columnsOf(fields),
          id: newId(),
          agent_id: agent.id,
          model,
          deliver_to_workspace_email: recipient,
          created_by: person?.username ?? agent.name,
          created_by_id: person?.id ?? null,
          principal: principalAt(agent, by),
          validation_principal: null,
          ...newTimes(now),
        })
        await appendEvent(tx, agent, scheduleCreated.name, created)
        return created
      })
    },

    update(agent, by, id, fields) {
      return db.atomically(async (tx) => {
        await scheduleStore(tx).lockChanges()
        const stored = await find(tx, agent, id)
        checkMayChange(by, stored, fields)
        checkTimes(fields)
        const recipient = recipientOf(
          by,
          fields.deliver_to_workspace_email,
          stored.deliver_to_workspace_email,
        )
        // A disabled schedule may exceed a cap that was lowered since; an enabled one may not.
        const isEnabling = fields.enabled === true && fields.timeout_seconds === undefined
        checkCap(isEnabling ? stored.timeout_seconds : fields.timeout_seconds, await capOf(tx, agent))
        if (fields.message !== undefined && fields.message.length > stored.message.length)
          checkRoom(fields.message, await scheduleStore(tx).messagesLength(agent.id, id))
        // A creator sends the present value at most, which must not end a pause.
        const { enabled: _, ...others } = fields
        const patch = patchOf(stored, isOwner(by) ? fields : others, recipient, timestamp(clock.now()))
        const author = principalAt(agent, by)
        checkOwnMessage(by, stored, patch, author)
        return update(tx, agent, stored, { ...patch, ...principalsOf(stored, fields, author) })
      })
    },

    setEnabled(agent, id, enabled) {
      return db.atomically(async (tx) => {
        if (enabled) await scheduleStore(tx).lockChanges()
        const stored = await find(tx, agent, id)
        const isSame = (stored.enabled === 1) === enabled
        if (isSame && stored.is_paused === 0) return stored
        if (enabled) checkCap(stored.timeout_seconds, await capOf(tx, agent))
        const now = timestamp(clock.now())
        return update(tx, agent, stored, { ...switched(enabled, now), updated_at: now })
      })
    },

    async accessEnded(tx, { agent, isOf, reason, now }) {
      for (const stored of await scheduleStore(tx).ofAgent(agent.id)) {
        const isConcerned = isOf(stored.principal) || isOf(stored.validation_principal ?? stored.principal)
        if (!isConcerned || (stored.enabled === 0 && stored.is_paused === 0)) continue
        const at = timestamp(now)
        await update(tx, agent, stored, { ...switched(false, at), disabled_reason: reason, updated_at: at })
      }
    },

    remove(agent, id) {
      return db.atomically(async (tx) => {
        await find(tx, agent, id)
        const now = clock.now()
        const removed = await scheduleStore(tx).remove(id, timestamp(now))
        if (!removed) throw new Fault('schedule_not_found')
        await deleted(tx, removed, now)
        await appendEvent(tx, agent, scheduleDeleted.name, removed)
      })
    },
  }
}

/** A schedule that is enabled counts its due times from now. */
function switched(enabled: boolean, now: string): SchedulePatch {
  return {
    enabled: enabled ? 1 : 0,
    is_paused: 0,
    disabled_reason: null,
    ...(enabled ? { armed_at: now } : {}),
  }
}

/** The times of a new schedule. */
export function newTimes(now: string) {
  return {
    is_paused: 0,
    disabled_reason: null,
    created_at: now,
    updated_at: now,
    armed_at: now,
    deleted_at: null,
  }
}

/** The agent's cap; call it after `lockChanges`. Throws `agent_not_found` while the agent is being deleted. */
async function capOf(tx: Tx, agent: Owned): Promise<number> {
  const row = await agentStore(tx).byId(agent.id)
  if (!row) throw new Fault('agent_not_found')
  return row.execution_timeout_seconds
}

/** The columns for the fields of a request, without model and recipient, which need checks. */
export function columnsOf(fields: CreateSchedule) {
  return {
    name: fields.name,
    description: fields.description ?? null,
    cron_expression: fields.cron_expression.trim(),
    message: fields.message,
    enabled: fields.enabled ? 1 : 0,
    timezone: fields.timezone,
    misfire_policy: fields.misfire_policy,
    timeout_seconds: fields.timeout_seconds ?? null,
    allowed_tools: jsonOf(fields.allowed_tools),
    max_retries: fields.max_retries,
    retry_delay_seconds: fields.retry_delay_seconds,
    validation_enabled: fields.validation_enabled ? 1 : 0,
    validation_prompt: fields.validation_prompt ?? null,
    validation_timeout_seconds: fields.validation_timeout_seconds,
    undo_failed: fields.undo_failed ? 1 : 0,
  }
}

function patchOf(
  stored: Schedule,
  fields: UpdateSchedule,
  recipient: string | null | undefined,
  now: string,
): SchedulePatch {
  const { enabled, validation_enabled, undo_failed, allowed_tools, model, cron_expression, ...rest } = fields
  const cron = cron_expression?.trim()
  const isEnabled = enabled ?? stored.enabled === 1
  const isRearmed =
    (cron !== undefined && cron !== stored.cron_expression) ||
    (rest.timezone !== undefined && rest.timezone !== stored.timezone) ||
    (isEnabled && stored.enabled === 0)
  return withoutUndefined({
    ...rest,
    cron_expression: cron,
    allowed_tools: allowed_tools === undefined ? undefined : jsonOf(allowed_tools),
    model: model === undefined ? undefined : modelOf(model),
    deliver_to_workspace_email: recipient,
    validation_enabled: validation_enabled === undefined ? undefined : validation_enabled ? 1 : 0,
    undo_failed: undo_failed === undefined ? undefined : undo_failed ? 1 : 0,
    ...(enabled === undefined ? {} : { enabled: enabled ? 1 : 0, is_paused: 0, disabled_reason: null }),
    ...(isRearmed ? { armed_at: now } : {}),
    updated_at: now,
  })
}

function principalAt(agent: Owned, { caller }: By): string {
  return principalOn(agent.id, principalOf(caller))
}

/** Message and validation prompt belong to their authors. Nobody's words run with another person's access. */
function principalsOf(
  stored: Schedule,
  fields: UpdateSchedule,
  author: string,
): Pick<Schedule, 'principal' | 'validation_principal'> {
  const { validation_prompt = stored.validation_prompt } = fields
  const principal = changesMessage(stored, fields) ? author : stored.principal
  if (validation_prompt === null) return { principal, validation_principal: null }
  const isNew = validation_prompt !== stored.validation_prompt
  const ofPrompt = isNew ? author : (stored.validation_principal ?? stored.principal)
  return { principal, validation_principal: ofPrompt === principal ? null : ofPrompt }
}

function jsonOf(values: string[] | null | undefined): string | null {
  return values ? JSON.stringify(values) : null
}

function withoutUndefined(
  patch: { [K in keyof SchedulePatch]: SchedulePatch[K] | undefined },
): SchedulePatch {
  // The remaining properties have a value.
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as SchedulePatch
}
