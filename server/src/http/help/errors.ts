import type { ErrorCode } from '@roost/contracts/kit/errors'
import { requestsHelp } from './requests.ts'
import { resourcesHelp } from './resources.ts'
import { valuesHelp } from './values.ts'

/** What causes each error and what to do about it. The type refuses a code without an entry. */
export const errorHelp: Record<ErrorCode, readonly [cause: string, remedy: string]> = {
  ...requestsHelp,
  ...resourcesHelp,
  ...valuesHelp,
}
