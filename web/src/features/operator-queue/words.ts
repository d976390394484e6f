import {
  type ItemPriority,
  type ItemStatus,
  type ItemType,
  itemPriorities,
  itemStatuses,
  itemTypes,
  type QueueItem,
  resolved,
} from '@roost/contracts/operations/operator-queue'

type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger' | 'info'

export const typeWords: Record<ItemType, { label: string; tone: Tone }> = {
  approval: { label: 'Approval', tone: 'accent' },
  question: { label: 'Question', tone: 'info' },
  alert: { label: 'Alert', tone: 'warning' },
}

export const priorityWords: Record<ItemPriority, { label: string; tone: Tone }> = {
  critical: { label: 'Critical', tone: 'danger' },
  high: { label: 'High', tone: 'warning' },
  medium: { label: 'Medium', tone: 'info' },
  low: { label: 'Low', tone: 'neutral' },
}

export const statusWords: Record<ItemStatus, { label: string; tone: Tone }> = {
  pending: { label: 'Pending', tone: 'accent' },
  responded: { label: 'Answered', tone: 'success' },
  acknowledged: { label: 'Answer read by agent', tone: 'success' },
  cancelled: { label: 'Dismissed', tone: 'neutral' },
  expired: { label: 'Expired', tone: 'danger' },
}

export const statusChoices = [
  ...itemStatuses.map((value) => ({ value, label: statusWords[value].label })),
  { value: resolved, label: 'Resolved' },
  { value: 'all', label: 'All' },
] as const

export const typeChoices = [
  { value: 'all', label: 'All types' },
  ...itemTypes.map((value) => ({ value, label: typeWords[value].label })),
] as const

export const priorityChoices = [
  { value: 'all', label: 'All priorities' },
  ...itemPriorities.map((value) => ({ value, label: priorityWords[value].label })),
] as const

const hour = 3_600_000

/** The urgency of an item: about to expire, or old; null for neither. */
export function pressureOf(
  { status, expires_at, aging }: Pick<QueueItem, 'status' | 'expires_at' | 'aging'>,
  now: number,
): 'expiring' | 'aging' | null {
  if (status !== 'pending') return null
  if (expires_at !== null && Date.parse(expires_at) - now < hour) return 'expiring'
  return aging ? 'aging' : null
}

/** The answer options. For a changed entry, those of its current version. */
export function optionsOf({
  options,
  entry_now,
}: Pick<QueueItem, 'options' | 'entry_now'>): readonly string[] {
  return entry_now?.options ?? options
}
