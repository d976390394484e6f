import type { Client } from '@roost/contracts/client'
import { staleOn } from '../../live/stale.ts'
import { agentKeys } from '../agents/queries.ts'
import { costsQuery } from '../costs/queries.ts'
import { runsQuery, runTimelineQuery } from '../executions/queries.ts'

/** The period of the page. */
export const dayHours = 24
/** Failed runs that are grouped. */
export const maxFailures = 200

// The figures of the agents have the number of their schedules, which is a first step.
staleOn(['schedule_created', 'schedule_deleted'], agentKeys.figures)

export const dayTimelineQuery = (api: Client) => runTimelineQuery(api, { hours: dayHours }, 'hour')

export const dayFailuresQuery = (api: Client) =>
  runsQuery(api, { status: 'failed', hours: dayHours }, 1, maxFailures)

/** `day`: today in UTC. */
export const todayCostsQuery = (api: Client, day: string) =>
  costsQuery(api, { from: day, to: day, by: 'agent' })
