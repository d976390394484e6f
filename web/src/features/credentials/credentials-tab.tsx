import type { AgentDetails } from '@roost/contracts/agents/agent'
import { AgentStopped } from '../agents/agent-stopped.tsx'
import { BundleSection } from './bundle-section.tsx'
import { ChecklistSection } from './checklist-section.tsx'
import { StatusSection } from './status-section.tsx'

/** Required, stored and bundled credentials of the agent. Values are never shown. */
export function CredentialsTab({ agent }: { agent: AgentDetails }) {
  const isOwner = agent.is_owner || agent.can_delete
  const isRunning = agent.status === 'running'
  return (
    <div className="min-w-0 max-w-4xl">
      {isOwner && <ChecklistSection agent={agent} />}
      {isRunning ? (
        <StatusSection agent={agent} isOwner={isOwner} />
      ) : (
        <AgentStopped agent={agent} purpose="view its credentials and add files" />
      )}
      {isOwner && isRunning && <BundleSection name={agent.name} />}
    </div>
  )
}
