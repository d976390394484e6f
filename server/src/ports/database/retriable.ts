import { isOutdated } from './postgres-prepared.ts'

/** Serialization failure, deadlock, outdated plan: the same work may succeed when it is done again. */
export function isRetriable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '40001' || code === '40P01' || isOutdated(error)
}
