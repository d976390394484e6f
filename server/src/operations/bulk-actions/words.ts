import { Fault } from '../../kit/fault.ts'

/** What people are told of a failure; never the text of one that has no name. */
export function wordsOf(error: unknown): string {
  return error instanceof Fault ? error.message : 'It failed for a reason that is in the log.'
}
