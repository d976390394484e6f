import { type DiskReport, getInternalDisk } from '@roost/contracts/agents/disk'
import { ApiError, createClient } from '@roost/contracts/client'
import { type Finding, ok, warn } from './finding.ts'
import type { PlatformState } from './platform-state.ts'

const about = 'disk quotas'
const timeoutMs = 10_000

/** Names the agents that are close to their disk quota or have used it up. */
export async function checkDiskQuotas(env: NodeJS.ProcessEnv, platform: PlatformState): Promise<Finding> {
  if (platform.state !== 'responding') return ok(about, 'not checked: the platform does not answer')
  return fetchDiskReport(`http://127.0.0.1:${env.ROOST_INTERNAL_PORT ?? 8001}`)
}

export async function fetchDiskReport(internalUrl: string): Promise<Finding> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    return diskFinding(await createClient(internalUrl).call(getInternalDisk, { signal }))
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
