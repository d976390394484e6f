import { type DiskReport, getInternalDisk } from '@roost/contracts/agents/disk'
import { seeLog } from './container.ts'
import { type Finding, ok, warn } from './finding.ts'
import { failureText, openInternalClient } from './internal.ts'
import type { PlatformState } from './platform-state.ts'

const about = 'disk quotas'
const timeoutMs = 10_000

/** Names the agents that are close to their disk quota or have used it up. */
export async function checkDiskQuotas(env: NodeJS.ProcessEnv, platform: PlatformState): Promise<Finding> {
  if (platform.state !== 'responding') return ok(about, 'not checked: the platform does not answer')
  return fetchDiskReport(env)
}

export async function fetchDiskReport(env: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return diskFinding(await (await openInternalClient(env)).call(getInternalDisk, { signal }))
  } catch (error) {
    return warn(about, `could not be checked: ${failureText(env, error)}`, seeLog())
  }
}

export function diskFinding({ agents, measured, low, full }: DiskReport): Finding {
  if (low.length + full.length === 0) {
    return ok(about, `no agent is close to its quota (measured: ${measured} of ${agents})`)
  }
  const parts = [
    ...(full.length > 0 ? [`used up by ${full.join(', ')}: their runs wait`] : []),
    ...(low.length > 0 ? [`more than 80 % used by ${low.join(', ')}`] : []),
  ]
  return warn(about, parts.join('; '), 'delete files in their workspaces, or raise their quotas as an admin')
}
