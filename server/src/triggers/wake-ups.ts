import type { AgentsArea } from '../agents/area.ts'
import type { Loop } from '../background/loops.ts'
import type { Route } from '../http/route.ts'
import type { RunRecords, RunsArea } from '../runs/area.ts'
import { createReminders, type RemindersDeps, reminderRoutes } from './reminders/index.ts'
import { createSubscriptions, type SubscriptionsDeps, subscriptionRoutes } from './subscriptions/index.ts'

type Own = 'hooks' | 'dispatch' | 'directory' | 'reach' | 'secrets' | 'agentName' | 'deliver'
export type WakeUpsDeps = Omit<SubscriptionsDeps & RemindersDeps, Own> & {
  agents: Pick<AgentsArea, 'directory' | 'reach' | 'facts' | 'hooks'>
  records: Pick<RunRecords, 'hooks'>
  runs: Pick<RunsArea, 'dispatch'>
  /** What a run leaves in the conversation that it came from. */
  deliverResult: RemindersDeps['deliver']
}

export type WakeUps = {
  routes: Route[]
  loops: Loop[]
  /** Resolves when what follows the ends of runs so far is done. */
  settled(): Promise<void>
}

/** Wires what wakes agents beside their schedules: events of others, and what they have themselves reminded of. */
export function createWakeUps(deps: WakeUpsDeps): WakeUps {
  const { agents, records, runs } = deps
  const { directory, reach } = agents
  const shared = { ...deps, directory, dispatch: runs.dispatch, hooks: records.hooks }
  const subscriptions = createSubscriptions({
    ...shared,
    reach,
    secrets: agents.facts.secrets,
    agentName: async (id) => (await directory.byId(id))?.name ?? null,
  })
  const reminders = createReminders({ ...shared, deliver: deps.deliverResult })
  agents.hooks.onDeleting((tx, { agent }) => subscriptions.agentDeleted(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => reminders.agentDeleted(tx, agent.id))

  return {
    routes: [...subscriptionRoutes(subscriptions), ...reminderRoutes(reminders)],
    loops: [...subscriptions.loops, ...reminders.loops],
    async settled() {
      await subscriptions.settled()
      await reminders.settled()
    },
  }
}
