import type { ErrorCode } from '@roost/contracts/kit/errors'
import { isFault } from '../../kit/fault.ts'

/** The name of the fault that the work ends in; `none` when it succeeds. */
export async function faultOf(work: Promise<unknown>): Promise<ErrorCode | 'none'> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (isFault(error)) return error.code
    throw error
  }
}

/** How often each outcome came, of works that went on at once. */
export async function outcomes(works: Promise<unknown>[]): Promise<Record<string, number>> {
  const found = await Promise.all(works.map(faultOf))
  const names = [...new Set(found)].sort()
  return Object.fromEntries(names.map((name) => [name, found.filter((each) => each === name).length]))
}
