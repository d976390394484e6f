import type { AgentDetails } from '@roost/contracts/agents/agent'
import { EventLog } from './event-log.tsx'
import { Subscriptions } from './subscriptions.tsx'

/** What wakes an agent besides the clock and people, and what it tells others. */
export function EventsTab({ agent }: { agent: AgentDetails }) {
  return (
    <div className="flex min-w-0 flex-col gap-8">
      <Subscriptions agent={agent} />
      <EventLog agent={agent} />
    </div>
  )
}
