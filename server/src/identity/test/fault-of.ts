import type { ErrorCode } from '@roost/contracts/kit/errors'
import { isFault } from '../../kit/fault.ts'

/** Returns the code of the fault that the work throws, or `none` if it succeeds. */
export async function faultOf(work: Promise<unknown>): Promise<ErrorCode | 'none'> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (isFault(error)) return error.code
    throw error
  }
}

/** Counts the outcomes of concurrent works by fault code. */
export async function outcomes(works: Promise<unknown>[]): Promise<Record<string, number>> {
  const codes = await Promise.all(works.map(faultOf))
  const names = [...new Set(codes)].sort()
  return Object.fromEntries(names.map((name) => [name, codes.filter((each) => each === name).length]))
}
