import { getInternalInnerNetworks, type InnerNetworks } from '@roost/contracts/agents/inner-networks'
import { seeLog } from './container.ts'
import { type Finding, ok, warn } from './finding.ts'
import { failureText, openInternalClient } from './internal.ts'
import type { PlatformState } from './platform-state.ts'

const about = 'private networks'
const timeoutMs = 10_000

/** Reports whether agents are kept from private networks, metadata addresses and this machine. */
export async function checkInnerNetworks(env: NodeJS.ProcessEnv, platform: PlatformState): Promise<Finding> {
  if (platform.state !== 'responding') return ok(about, 'not checked: the platform does not answer')
  return fetchInnerNetworks(env)
}

export async function fetchInnerNetworks(env: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return innerNetworksFinding(
      await (await openInternalClient(env)).call(getInternalInnerNetworks, { signal }),
    )
  } catch (error) {
    return warn(about, `could not be checked: ${failureText(env, error)}`, seeLog())
  }
}

export function innerNetworksFinding({ opened, is_closed, problem }: InnerNetworks): Finding {
  if (is_closed) {
    const except = opened.length === 0 ? '' : `, except ${opened.join(', ')}`
    return ok(about, `closed to agents${except}`)
  }
  if (problem === null) return ok(about, 'not checked: the container engine has not answered yet')
  // The platform's text has the remedy as its last sentences.
  const [what = problem, ...remedy] = problem.split(/(?<=\.) /)
  return warn(about, what.replace(/\.$/, ''), remedy.join(' ') || 'see docs/operate/egress.md')
}
