import { type EgressAuthority, getInternalEgressAuthority } from '@roost/contracts/agents/egress'
import { seeLog } from './container.ts'
import { type Finding, ok, warn } from './finding.ts'
import { failureText, openInternalClient } from './internal.ts'
import type { PlatformState } from './platform-state.ts'

const about = 'egress authority'
const timeoutMs = 10_000
const dayMs = 24 * 3600 * 1000

/** Reports how long the certificate that agents with bound credentials trust is valid. */
export async function checkEgress(env: NodeJS.ProcessEnv, platform: PlatformState): Promise<Finding[]> {
  if (platform.state !== 'responding') return [ok(about, 'not checked: the platform does not answer')]
  return [await fetchAuthority(env, new Date())]
}

export async function fetchAuthority(env: NodeJS.ProcessEnv, now: Date): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return findingOf(await (await openInternalClient(env)).call(getInternalEgressAuthority, { signal }), now)
  } catch (error) {
    return warn(about, `could not be checked: ${failureText(env, error)}`, seeLog())
  }
}

function findingOf({ signs_until, renews_at, trusted }: EgressAuthority, now: Date): Finding {
  if (signs_until === null || renews_at === null)
    return ok(about, 'not needed: no agent has a bound credential')
  const until = signs_until.slice(0, 10)
  const days = Math.floor((Date.parse(signs_until) - now.getTime()) / dayMs)
  const validity = `valid until ${until} (${days} ${days === 1 ? 'day' : 'days'})`
  if (trusted > 1) return ok(about, `${validity}; the next one exists, and agents trust both`)
  // The platform checks daily, so a renewal two days late has failed.
  if (Date.parse(renews_at) < now.getTime() - 2 * dayMs) {
    const message = `${validity}; renewal overdue since ${renews_at.slice(0, 10)}`
    return warn(about, message, 'search logs/api.log in the data folder for agents.egress-authority')
  }
  return ok(about, `${validity}; renewed automatically from ${renews_at.slice(0, 10)}`)
}
