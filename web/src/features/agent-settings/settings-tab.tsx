import { Suspense } from 'react'
import { Skeleton } from '../../ui/skeleton.tsx'
import { CallsSection } from '../calls/calls-section.tsx'
import { ConnectorSection } from '../connector/connector-section.tsx'
import { EvaluationsSection } from '../evaluations/evaluations-section.tsx'
import { OwnKeySection } from '../own-key/own-key-section.tsx'
import { AgentAuthSection } from '../provider-subscriptions/agent-auth-section.tsx'
import { BehaviourSection } from './behaviour-section.tsx'
import { BreakerSection } from './breaker-section.tsx'
import { ContainerSection } from './container-section.tsx'
import { DiskSection } from './disk-section.tsx'
import { LimitsSection } from './limits-section.tsx'
import { OperationSection } from './operation-section.tsx'
import { ReadOnlySection } from './read-only-section.tsx'
import { SpendSection } from './spend-section.tsx'
import type { SettingProps } from './use-save.ts'
import { VoiceSection } from './voice-section.tsx'

/** All settings of one agent. Only the owner and admins can change them. */
export function SettingsTab({ agent }: Pick<SettingProps, 'agent'>) {
  // Admins may delete every agent, so this covers the owner and admins.
  const props: SettingProps = { agent, isOwner: agent.can_delete || agent.is_owner }
  return (
    <Suspense fallback={<Skeleton className="h-96 w-full" />}>
      <div className="max-w-4xl">
        <BehaviourSection {...props} />
        <AgentAuthSection {...props} />
        <LimitsSection {...props} />
        <SpendSection {...props} />
        <OperationSection {...props} />
        <ReadOnlySection {...props} />
        <ContainerSection {...props} />
        <DiskSection agent={agent} />
        <BreakerSection {...props} />
        <VoiceSection {...props} />
        <CallsSection name={agent.name} isOwner={props.isOwner} />
        <EvaluationsSection {...props} />
        {props.isOwner && <OwnKeySection agent={agent} />}
        {props.isOwner && !agent.is_system && <ConnectorSection name={agent.name} />}
      </div>
    </Suspense>
  )
}
