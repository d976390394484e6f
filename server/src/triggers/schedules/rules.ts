import { EmailAddress } from '@roost/contracts/identity/users'
import { isTimezone, readCron } from '@roost/contracts/kit/cron'
import type { UpdateSchedule } from '@roost/contracts/triggers/schedules'
import type { Relation, SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import type { Schedule, SchedulePatch } from './store.ts'

/** The caller of a change and its relation to the agent. */
export type By = { caller: SignedIn; relation: Relation }

/** Throws `invalid_cron_expression`, `invalid_timezone`. */
export function checkTimes({
  cron_expression,
  timezone,
}: {
  cron_expression?: string
  timezone?: string
}): void {
  const cron = cron_expression === undefined ? null : readCron(cron_expression)
  if (typeof cron === 'string') {
    throw new Fault('invalid_cron_expression', `"${cron_expression?.slice(0, 100) ?? ''}" ${cron}.`)
  }
  if (timezone !== undefined && !isTimezone(timezone)) {
    throw new Fault('invalid_timezone', `"${timezone.slice(0, 100)}" is not a known IANA zone.`)
  }
}

/** Throws `schedule_timeout_exceeds_agent_cap`; null uses the cap. */
export function checkCap(seconds: number | null | undefined, cap: number): void {
  if (seconds === null || seconds === undefined || seconds <= cap) return
  throw new Fault(
    'schedule_timeout_exceeds_agent_cap',
    `The timeout of ${seconds} s is above the agent's execution timeout of ${cap} s.`,
    { agent_cap_seconds: cap, requested_seconds: seconds },
  )
}

export function isOwner({ relation }: Pick<By, 'relation'>): boolean {
  return relation === 'owner' || relation === 'admin' || relation === 'self'
}

/** The person behind the call; null for an agent. */
export function personOf({ caller }: Pick<By, 'caller'>): SignedIn['user'] | null {
  return caller.kind === 'key' && caller.key.scope === 'agent' ? null : caller.user
}

/** In characters. The list of an agent's schedules has all their messages. */
export const maxMessagesLength = 10_000_000

/** `others`: characters of the agent's other schedules. Throws `validation_error`. */
export function checkRoom(message: string, others: number): void {
  if (message.length + others <= maxMessagesLength) return
  throw new Fault(
    'validation_error',
    `message: the messages of all schedules of an agent have at most ${maxMessagesLength} characters together.`,
  )
}

export function changesMessage(stored: Pick<Schedule, 'message'>, { message }: UpdateSchedule): boolean {
  return message !== undefined && message !== stored.message
}

/**
 * Throws `owner_required`. The owner may change everything, and the creator everything but `enabled`. Everybody with
 * access may change the recipient, within the limits of `recipientOf`.
 */
export function checkMayChange(
  by: By,
  schedule: Pick<Schedule, 'created_by_id' | 'enabled'>,
  fields: UpdateSchedule,
): void {
  if (isOwner(by)) return
  const person = personOf(by)
  const isReader = person !== null && by.relation === 'shared'
  const names = Object.keys(fields)
  if (isReader && names.length > 0 && names.every((name) => name === 'deliver_to_workspace_email')) return
  if (!isReader || person.id !== schedule.created_by_id) throw new Fault('owner_required')
  if (fields.enabled !== undefined && fields.enabled !== (schedule.enabled === 1)) {
    throw new Fault('owner_required', "Only the agent's owner or an admin may enable or disable a schedule.")
  }
}

/** Columns that decide when and how the message runs. */
const howItRuns = [
  ...(['cron_expression', 'timezone', 'misfire_policy', 'timeout_seconds', 'allowed_tools'] as const),
  ...(['model', 'max_retries', 'retry_delay_seconds', 'undo_failed'] as const),
]

/**
 * While the message is another person's, a creator may replace it, but not change how it runs. `author`: the principal
 * of the change. Throws `owner_required`.
 */
export function checkOwnMessage(by: By, stored: Schedule, patch: SchedulePatch, author: string): void {
  const isChanged = (name: keyof SchedulePatch) => patch[name] !== undefined && patch[name] !== stored[name]
  if (isOwner(by) || stored.principal === author || isChanged('message')) return
  const name = howItRuns.find(isChanged)
  if (name === undefined) return
  throw new Fault(
    'owner_required',
    `${name}: another person wrote the message of this schedule. Write a message of your own, or ask the agent's owner.`,
  )
}

/**
 * The recipient to store; null is no delivery, undefined no change. Whether it can reach the agent is checked before
 * each run. Callers may name themselves, an agent its owner, and the owner anybody. Throws `invalid_recipient`,
 * `delivery_target_requires_owner`.
 */
export function recipientOf(
  by: By,
  request: string | null | undefined,
  stored: string | null,
): string | null | undefined {
  if (request === null || request === undefined) return request
  const { data: address } = EmailAddress.safeParse(request)
  if (address === undefined) {
    throw new Fault('invalid_recipient', 'deliver_to_workspace_email is not an e-mail address.')
  }
  // An agent's key has its owner's address.
  const isOwn = by.caller.user.email?.toLowerCase() === address
  if (isOwn || address === stored || (isOwner(by) && by.relation !== 'self')) return address
  throw new Fault('delivery_target_requires_owner')
}
