import type { AgentDetails } from '@roost/contracts/agents/agent'
import { EventLog } from './event-log.tsx'
import { Subscriptions } from './subscriptions.tsx'

/** Event subscriptions of the agent and its emitted events. */
export function EventsTab({ agent }: { agent: AgentDetails }) {
  return (
    <div className="flex min-w-0 flex-col gap-8">
      <Subscriptions agent={agent} />
      <EventLog agent={agent} />
    </div>
  )
}
