import { isOutdated } from './postgres-prepared.ts'

/** Serialization failure, deadlock or outdated plan: the same work may succeed if repeated. */
export function isRetriable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '40001' || code === '40P01' || isOutdated(error)
}
