import type { FireRow } from '../fires/index.ts'

/** What became of a fire. */
export type Fired =
  | { outcome: 'fired'; executionId: string; message: string; isReplay?: true }
  | { outcome: 'skipped' | 'suppressed' | 'missed'; reason: string; executionId?: string }

/** What was decided; null while nothing is. */
export function decidedFire({ outcome, reason, execution_id }: FireRow): Fired | null {
  if (outcome === null) return null
  if (outcome === 'fired') {
    return { outcome, executionId: execution_id ?? '', message: '', isReplay: true }
  }
  return { outcome, reason: reason ?? '', ...(execution_id === null ? {} : { executionId: execution_id }) }
}
