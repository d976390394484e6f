import { type EgressAuthority, getInternalEgressAuthority } from '@roost/contracts/agents/egress'
import { ApiError, createClient } from '@roost/contracts/client'
import { type Finding, ok, warn } from './finding.ts'
import type { Seen } from './seen.ts'

const about = 'egress authority'
const timeoutMs = 10_000
const dayMs = 24 * 3600 * 1000

/** How long the certificate holds that agents with bound credentials trust; nothing while the platform does not answer. */
export async function checkEgress(env: NodeJS.ProcessEnv, seen: Seen): Promise<Finding[]> {
  if (seen.state !== 'answers') return [ok(about, 'is looked at while the platform answers')]
  return [await askForAuthority(`http://127.0.0.1:${env.ROOST_INTERNAL_PORT ?? 8001}`, new Date())]
}

export async function askForAuthority(internalUrl: string, now: Date): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return findingOf(await createClient(internalUrl).call(getInternalEgressAuthority, { signal }), now)
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

function findingOf({ signs_until, renews_at, trusted }: EgressAuthority, now: Date): Finding {
  if (signs_until === null || renews_at === null)
    return ok(about, 'none is needed: no agent has a credential that stays in the platform')
  const until = signs_until.slice(0, 10)
  const days = Math.floor((Date.parse(signs_until) - now.getTime()) / dayMs)
  const left = `holds until ${until} (${days} ${days === 1 ? 'day' : 'days'})`
  if (trusted > 1) return ok(about, `${left}; the next one is made, and agents trust both`)
  // The platform looks each day: one that is late has failed at it.
  if (Date.parse(renews_at) < now.getTime() - 2 * dayMs) {
    const late = `${left}, and should have been renewed since ${renews_at.slice(0, 10)}`
    return warn(about, late, 'look for agents.egress-authority in logs/api.log in the data folder')
  }
  return ok(about, `${left}; renews itself from ${renews_at.slice(0, 10)}`)
}
