import { CreateAgent } from '../features/agents/create-agent.tsx'
import { Fleet } from '../features/agents/fleet.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import type { PageTab } from './tabbed-page.tsx'

const RunsOverTime = lazyPart(
  async () => (await import('../features/executions/runs-over-time.tsx')).RunsOverTime,
)

/** The tabs in display order; the first one is the default. */
export const agentsTabs: readonly PageTab[] = [
  {
    id: 'list',
    label: 'All agents',
    guide: 'tutorial',
    Actions: CreateAgent,
    Content: () => <Fleet Timeline={RunsOverTime} />,
  },
  {
    id: 'health',
    label: 'Fleet health',
    guide: 'how-to/health',
    Content: lazyPart(async () => (await import('../features/monitoring/fleet-health.tsx')).FleetHealth),
  },
  {
    id: 'permissions',
    label: 'Agent permissions',
    guide: 'operate/sharing',
    Content: lazyPart(
      async () => (await import('../features/permissions/fleet-permissions.tsx')).FleetPermissions,
    ),
  },
]
