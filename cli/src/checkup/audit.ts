import { type AuditVerification, verifyInternalAuditLog } from '@roost/contracts/foundation/audit'
import { seeLog } from './container.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { failureText, openInternalClient } from './internal.ts'
import type { PlatformState } from './platform-state.ts'

const about = 'audit log'
/** The platform reads the whole log, which takes some seconds per million entries. */
const timeoutMs = 120_000

/** Asks the running platform whether its audit log was changed. */
export async function checkAudit(env: NodeJS.ProcessEnv, platform: PlatformState): Promise<Finding> {
  // `checkPlatform` reports a platform that is stopped, starting or unresponsive.
  if (platform.state !== 'responding') return ok(about, 'not checked: the platform does not answer')
  return fetchAudit(env)
}

export async function fetchAudit(env: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return findingOf(await (await openInternalClient(env)).call(verifyInternalAuditLog, { signal }))
  } catch (error) {
    return warn(about, `could not be checked: ${failureText(env, error)}`, seeLog())
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
