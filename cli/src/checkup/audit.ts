import { ApiError, createClient } from '@roost/contracts/client'
import { type AuditVerification, verifyInternalAuditLog } from '@roost/contracts/foundation/audit'
import { type Finding, fail, ok, warn } from './finding.ts'
import type { PlatformState } from './platform-state.ts'

const about = 'audit log'
/** The platform reads the whole log, which takes some seconds per million entries. */
const timeoutMs = 120_000

/** Asks the running platform whether its audit log was changed. */
export async function checkAudit(env: NodeJS.ProcessEnv, platform: PlatformState): Promise<Finding> {
  // `checkPlatform` reports a platform that is stopped, starting or unresponsive.
  if (platform.state !== 'responding') return ok(about, 'not checked: the platform does not answer')
  return fetchAudit(`http://127.0.0.1:${env.ROOST_INTERNAL_PORT ?? 8001}`)
}

export async function fetchAudit(internalUrl: string): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return findingOf(await createClient(internalUrl).call(verifyInternalAuditLog, { signal }))
  } catch (error) {
    const reason =
      error instanceof ApiError
        ? `answered: ${error.message}`
        : `does not answer: ${error instanceof Error ? error.message : String(error)}`
    return warn(
      about,
      `could not be checked: the platform at ${internalUrl} ${reason}`,
      'see logs/api.log in the data folder',
    )
  }
}

function findingOf({ status, checked, first_invalid_id }: AuditVerification): Finding {
  const entries = checked === 1 ? '1 entry' : `${checked} entries`
  switch (status) {
    case 'verified':
      return ok(about, `${entries}, none changed or removed`)
    case 'empty_range':
      return ok(about, 'no entries yet')
    case 'tampered':
      return fail(
        about,
        `entry ${first_invalid_id} was changed, removed or inserted: entries from there on cannot be trusted`,
        'find out who can write to the database, compare with a backup and keep a copy of both',
      )
  }
}
