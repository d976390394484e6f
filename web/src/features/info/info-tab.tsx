import type { AgentDetails } from '@roost/contracts/agents/agent'
import { ContainerSection } from './container-section.tsx'
import { HeartbeatSection } from './heartbeat-section.tsx'
import { SshSection } from './ssh-section.tsx'
import { TemplateSection } from './template-section.tsx'

/** The template, container, SSH access and heartbeat of the agent. */
export function InfoTab({ agent }: { agent: AgentDetails }) {
  const isOwner = agent.is_owner || agent.can_delete
  return (
    <>
      <TemplateSection agent={agent} />
      <ContainerSection agent={agent} />
      <HeartbeatSection agent={agent} />
      {isOwner && <SshSection agent={agent} />}
    </>
  )
}
