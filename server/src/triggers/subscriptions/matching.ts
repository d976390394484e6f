import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import type { Db } from '../../ports/database/port.ts'
import { type SubscriptionRow, subscriptionStore } from './store.ts'

export type MatchingDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'permittedTargets' | 'relationTo'>
}

export type Match = { subscription: SubscriptionRow; subscriber: Agent }

/**
 * Whom an event wakes, at this moment. Whoever has no permission any more to call the source is no match: a
 * subscription without a source hears the agents that its subscriber may call, and nobody else.
 */
export function createMatching({ db, agentRecords, agentAccess }: MatchingDeps) {
  async function mayHear(subscriberId: string, sourceId: string): Promise<boolean> {
    return subscriberId === sourceId || (await agentAccess.permittedTargets(subscriberId)).has(sourceId)
  }

  async function matches(
    rows: readonly SubscriptionRow[],
    isHeard: (row: SubscriptionRow, subscriber: Agent) => Promise<boolean>,
  ): Promise<Match[]> {
    const found: Match[] = []
    for (const subscription of rows) {
      const subscriber = await agentRecords.byId(subscription.subscriber_agent_id)
      if (subscriber && (await isHeard(subscription, subscriber))) found.push({ subscription, subscriber })
    }
    return found
  }

  async function ofAgent(eventType: string, sourceId: string): Promise<Match[]> {
    const rows = await subscriptionStore(db).toSource(eventType, sourceId)
    return matches(rows, (row) => mayHear(row.subscriber_agent_id, sourceId))
  }

  return {
    mayHear,

    /** Of an event that an agent emits, or that somebody emits as that agent. */
    ofAgent,

    /** The same of what the platform tells of an agent: nobody hears that of itself. */
    async ofTask(eventType: string, sourceId: string): Promise<Match[]> {
      const heard = await ofAgent(eventType, sourceId)
      return heard.filter(({ subscriber }) => subscriber.id !== sourceId)
    },

    /** Of an event that a person emits in their own name: whatever source it names, within the person's reach. */
    async ofPerson(eventType: string, caller: SignedIn): Promise<Match[]> {
      const rows = await subscriptionStore(db).toType(eventType)
      return matches(rows, async ({ source_agent_id }, subscriber) => {
        if (!(await agentAccess.relationTo(caller, subscriber))) return false
        return source_agent_id === null || mayHear(subscriber.id, source_agent_id)
      })
    },
  }
}

export type Matching = ReturnType<typeof createMatching>
