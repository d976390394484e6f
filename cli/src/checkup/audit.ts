import { ApiError, createClient } from '@roost/contracts/client'
import { type AuditVerification, verifyInternalAuditLog } from '@roost/contracts/foundation/audit'
import { type Finding, fail, ok, warn } from './finding.ts'
import type { Seen } from './seen.ts'

const about = 'audit log'
/** Reads the whole log: some seconds for a million entries. */
const timeoutMs = 120_000

/** Whether anybody has changed the audit log, as the running platform sees it. */
export async function checkAudit(env: NodeJS.ProcessEnv, seen: Seen): Promise<Finding> {
  // One that does not run, is starting or hangs is told of by the check of the platform.
  if (seen.state !== 'answers') return ok(about, 'is looked at while the platform answers')
  return askForAudit(`http://127.0.0.1:${env.ROOST_INTERNAL_PORT ?? 8001}`)
}

export async function askForAudit(internalUrl: string): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return findingOf(await createClient(internalUrl).call(verifyInternalAuditLog, { signal }))
  } catch (error) {
    const why =
      error instanceof ApiError
        ? `answers ${error.message}`
        : `does not answer: ${error instanceof Error ? error.message : String(error)}`
    return warn(
      about,
      `could not be looked at: the platform at ${internalUrl} ${why}`,
      'look at logs/api.log in the data folder',
    )
  }
}

function findingOf({ status, checked, first_invalid_id }: AuditVerification): Finding {
  const entries = checked === 1 ? '1 entry' : `${checked} entries`
  switch (status) {
    case 'verified':
      return ok(about, `${entries}, none of them changed or removed since`)
    case 'empty_range':
      return ok(about, 'has no entries yet')
    case 'tampered':
      return fail(
        about,
        `entry ${first_invalid_id} was changed, removed or put in: what follows cannot be trusted`,
        'find out who can write to the database; compare with a backup, and keep a copy of both',
      )
  }
}
