import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { optionsOf } from './words.ts'

type Answerable = Pick<QueueItem, 'options' | 'entry_now' | 'diverged'>

/**
 * How several items can be answered together: by an option that all offer, by text when none has options, or
 * not at all. Changed items must be answered individually.
 */
export type CommonAnswer = { by: 'option'; options: string[] } | { by: 'text' } | { by: 'nothing' }

export function commonAnswerOf(items: readonly Answerable[]): CommonAnswer {
  const offered = items.filter(({ diverged }) => !diverged).map(optionsOf)
  const [first, ...others] = offered
  if (first === undefined) return { by: 'nothing' }
  if (offered.every((options) => options.length === 0)) return { by: 'text' }
  const options = first.filter((option) => others.every((each) => each.includes(option)))
  return options.length > 0 ? { by: 'option', options } : { by: 'nothing' }
}
