import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import type { ReactNode } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Cost } from '../../ui/cost.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { useAgentPower, useAutonomy } from './actions.ts'
import { AgentMenu } from './agent-menu.tsx'
import { AgentPicture } from './agent-picture.tsx'
import { AgentStatus } from './agent-status.tsx'
import { AgentTags } from './agent-tags.tsx'
import { AgentTitle } from './agent-title.tsx'
import { runStatsQuery } from './queries.ts'

/** The header above all tabs: state, cost and actions of the agent. `help` is the link to the guide of the tab. */
export function AgentHeader({ agent, help }: { agent: AgentDetails; help: ReactNode }) {
  const mayEdit = agent.is_owner || agent.can_delete
  return (
    <header className="flex shrink-0 items-start gap-x-4 gap-y-2 px-4 pt-2 pb-1 sm:flex-wrap sm:pt-4 sm:pb-1.5 md:px-6">
      <div className="flex min-w-0 flex-1 items-start gap-3 sm:basis-64">
        <AgentPicture name={agent.name} size="lg" />
        <div className="min-w-0 flex-1">
          <AgentTitle agent={agent} mayEdit={mayEdit} />
          <Facts agent={agent} mayEdit={mayEdit} />
        </div>
      </div>
      <div className="flex items-center gap-1 sm:gap-2">
        <AutonomySwitch agent={agent} mayEdit={mayEdit} />
        <Power agent={agent} />
        <AgentMenu agent={agent} mayEdit={mayEdit} />
        {help}
      </div>
    </header>
  )
}

function Facts({ agent, mayEdit }: { agent: AgentDetails; mayEdit: boolean }) {
  const { data: stats } = useQuery(runStatsQuery(useApi()))
  const run = stats?.agents.find((row) => row.name === agent.name)
  return (
    <div className="flex items-center gap-x-3 gap-y-1 overflow-hidden text-xs text-muted max-sm:h-4 max-sm:whitespace-nowrap sm:mt-0.5 sm:flex-wrap sm:overflow-visible">
      <AgentStatus status={agent.status} busy={(run?.running_count ?? 0) > 0} />
      <span className="max-sm:hidden">
        {agent.runtime}
        {agent.runtime_model && <span className="text-faint"> · {agent.runtime_model}</span>}
      </span>
      {run && (
        <span title="Cost of the last 24 hours" className="max-sm:hidden">
          <Cost usd={run.total_cost} isEstimated={run.cost_estimated} />{' '}
          <span className="text-faint">in 24 h</span>
        </span>
      )}
      {agent.is_shared && <Badge tone="info">Shared with you</Badge>}
      {agent.needs_recreate && <RecreateHint agent={agent} />}
      {agent.waiting && <Hint badge={waitingWords[agent.waiting.state]} words={agent.waiting.reason} />}
      <AgentTags agent={agent} mayEdit={mayEdit} />
    </div>
  )
}

const reasonWords = {
  resources: 'resources',
  capabilities: 'capabilities',
  runtime: 'runtime',
  agent_key: 'agent key',
  shared_folders: 'shared folders',
  image_version: 'newer image',
  isolation: 'OCI runtime',
  ssh_port: 'SSH port',
  egress: 'outbound network',
} as const

function RecreateHint({ agent }: { agent: AgentDetails }) {
  const reasons = agent.recreate_reasons.map((reason) => reasonWords[reason]).join(', ')
  return <Hint badge="Restart needed" words={`Stop and start the agent to apply changes of: ${reasons}.`} />
}

const waitingWords = { pending: 'Waiting to start', lost: 'Waiting for its node' } as const

function Hint({ badge, words }: { badge: string; words: string }) {
  return (
    <Tooltip content={words}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the hint also shows on focus */}
      <span tabIndex={0} className="rounded-sm">
        <Badge tone="warning">{badge}</Badge>
        <span className="sr-only">{words}</span>
      </span>
    </Tooltip>
  )
}

function AutonomySwitch({ agent, mayEdit }: { agent: AgentDetails; mayEdit: boolean }) {
  const autonomy = useAutonomy(agent.name)
  return (
    <Tooltip content="When off, no schedule of this agent fires">
      <span className="flex h-8 items-center gap-2 rounded-md pr-1.5 text-xs text-muted max-sm:hidden">
        Autonomy
        <Switch
          label={`Autonomy of ${agent.name}`}
          checked={agent.autonomy_enabled}
          disabled={!mayEdit}
          onCheckedChange={autonomy.mutate}
        />
      </span>
    </Tooltip>
  )
}

function Power({ agent }: { agent: AgentDetails }) {
  const { start, stop, pending } = useAgentPower(agent.name)
  const isRunning = agent.status === 'running'
  return isRunning ? (
    <Button icon={<StopIcon />} pending={pending !== null} onClick={stop}>
      <span className="max-sm:sr-only">Stop agent</span>
    </Button>
  ) : (
    <Button variant="primary" icon={<Play aria-hidden />} pending={pending !== null} onClick={start}>
      <span className="max-sm:sr-only">Start agent</span>
    </Button>
  )
}
