import type * as endpoints from '@roost/contracts/operations/usage-sharing'
import type { UsagePreview } from '@roost/contracts/operations/usage-sharing'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Settings } from '../../foundation/settings/index.ts'
import type { BuildInfo } from '../version/index.ts'

export type UsageSharingDeps = {
  settings: Pick<Settings, 'usageSharing'>
  agentRecords: Pick<AgentRecords, 'all'>
  build: Pick<BuildInfo, 'version' | 'edition' | 'install_source'>
}

export type UsageSharing = {
  show(): Promise<endpoints.UsageSharing>
  put(enabled: boolean): Promise<endpoints.UsageSharing>
  dismiss(): Promise<void>
}

/** The consent to share usage figures, and a preview of them. Sends nothing. */
export function createUsageSharing({ settings, agentRecords, build }: UsageSharingDeps): UsageSharing {
  async function preview(): Promise<UsagePreview> {
    const agents = await agentRecords.all()
    const by_runtime: Record<string, number> = {}
    for (const { runtime } of agents) by_runtime[runtime] = (by_runtime[runtime] ?? 0) + 1
    const running = agents.filter(({ status }) => status === 'running').length
    const { version, edition, install_source } = build
    return { version, edition, install_source, agents: { total: agents.length, running, by_runtime } }
  }
  const show = async () => ({ ...settings.usageSharing.state(), preview: await preview() })

  return {
    show,
    async put(enabled) {
      await settings.usageSharing.put(enabled)
      return show()
    },
    dismiss: () => settings.usageSharing.dismiss(),
  }
}
