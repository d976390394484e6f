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
 * Finds the subscriptions that an event matches now. The subscriber needs permission to call the source; without a
 * named source, the subscription matches all agents that its subscriber may call.
 */
export function createMatching({ db, agentRecords, agentAccess }: MatchingDeps) {
  async function mayListen(subscriberId: string, sourceId: string): Promise<boolean> {
    return subscriberId === sourceId || (await agentAccess.permittedTargets(subscriberId)).has(sourceId)
  }

  async function matches(
    rows: readonly SubscriptionRow[],
    isMatch: (row: SubscriptionRow, subscriber: Agent) => Promise<boolean>,
  ): Promise<Match[]> {
    const found: Match[] = []
    for (const subscription of rows) {
      const subscriber = await agentRecords.byId(subscription.subscriber_agent_id)
      if (subscriber && (await isMatch(subscription, subscriber))) found.push({ subscription, subscriber })
    }
    return found
  }

  async function ofAgent(eventType: string, sourceId: string): Promise<Match[]> {
    const rows = await subscriptionStore(db).toSource(eventType, sourceId)
    return matches(rows, (row) => mayListen(row.subscriber_agent_id, sourceId))
  }

  return {
    mayListen,

    /** Matches of an event that an agent emits, or a caller in its name. */
    ofAgent,

    /** Matches of the end of a task; an agent does not listen to its own. */
    async ofTask(eventType: string, sourceId: string): Promise<Match[]> {
      const all = await ofAgent(eventType, sourceId)
      return all.filter(({ subscriber }) => subscriber.id !== sourceId)
    },

    /** Matches of a person's own event, with any source, for subscribers that the person can access. */
    async ofPerson(eventType: string, caller: SignedIn): Promise<Match[]> {
      const rows = await subscriptionStore(db).toType(eventType)
      return matches(rows, async ({ source_agent_id }, subscriber) => {
        if (!(await agentAccess.relationTo(caller, subscriber))) return false
        return source_agent_id === null || mayListen(subscriber.id, source_agent_id)
      })
    },
  }
}

export type Matching = ReturnType<typeof createMatching>
