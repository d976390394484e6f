import { EmailAddress } from '@roost/contracts/identity/users'
import { isTimezone, readCron } from '@roost/contracts/kit/cron'
import type { UpdateSchedule } from '@roost/contracts/triggers/schedules'
import type { Relation, SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import type { Schedule } from './store.ts'

/** Who changes something, and how they stand to the agent. */
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

/** Throws `schedule_timeout_exceeds_agent_cap`; null takes the cap. */
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

/** The person behind the call; null for an agent, which acts for itself. */
export function personOf({ caller }: Pick<By, 'caller'>): SignedIn['user'] | null {
  return caller.kind === 'key' && caller.key.scope === 'agent' ? null : caller.user
}

/**
 * Throws `owner_required`: a schedule is changed by the owner, and but for `enabled` by whoever made it. Whom it
 * delivers to is everybody's, as far as `recipientOf` lets them.
 */
export function checkMayChange(
  by: By,
  schedule: Pick<Schedule, 'created_by_id' | 'enabled'>,
  fields: UpdateSchedule,
): void {
  if (isOwner(by)) return
  const person = personOf(by)
  const isReader = person !== null && by.relation === 'shared'
  const named = Object.keys(fields)
  if (isReader && named.length > 0 && named.every((name) => name === 'deliver_to_workspace_email')) return
  if (!isReader || person.id !== schedule.created_by_id) throw new Fault('owner_required')
  if (fields.enabled !== undefined && fields.enabled !== (schedule.enabled === 1)) {
    throw new Fault('owner_required', "Only the agent's owner or an admin may enable or disable a schedule.")
  }
}

/**
 * The address to deliver to, as it is stored; null delivers to nobody, undefined changes nothing. Whether it
 * reaches the agent is asked when a run is delivered. Throws `invalid_recipient`,
 * `delivery_target_requires_owner`: naming oneself is free, an agent names its owner, and whoever else is
 * named, is named by the owner.
 */
export function recipientOf(
  by: By,
  given: string | null | undefined,
  stored: string | null,
): string | null | undefined {
  if (given === null || given === undefined) return given
  const { data: address } = EmailAddress.safeParse(given)
  if (address === undefined) {
    throw new Fault('invalid_recipient', 'deliver_to_workspace_email is not an e-mail address.')
  }
  // The key of an agent carries its owner's address.
  const isOwn = by.caller.user.email?.toLowerCase() === address
  if (isOwn || address === stored || (isOwner(by) && by.relation !== 'self')) return address
  throw new Fault('delivery_target_requires_owner')
}
