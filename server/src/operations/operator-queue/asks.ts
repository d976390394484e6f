import {
  type AskBody,
  mostPendingAsks,
  type QueueItem,
  shortestAskMinutes,
} from '@roost/contracts/operations/operator-queue'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { aboutIn, blankItem } from './alerts.ts'
import { itemEvent, newItemEvent } from './events.ts'
import { type AskText, essence, shownItem } from './rules.ts'
import { type ItemRow, operatorQueueStore } from './store.ts'

export type AsksDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  limits: Pick<RateLimits, 'use'>
}

export type Asks = {
  /**
   * `isNew` is false for a request id that was used before: then the item is the one that is there. Throws
   * `rate_limited`, `queue_full`, `validation_error` for an end that is too near.
   */
  ask(agent: { id: string; name: string }, body: AskBody): Promise<{ item: QueueItem; isNew: boolean }>
  /** What became of an ask; an answer counts as read from then on. Throws `not_found`. */
  read(agent: { id: string; name: string }, requestId: string): Promise<QueueItem>
  acknowledge(tx: Tx, row: ItemRow): Promise<ItemRow>
}

export function createAsks({ db, clock, events, limits }: AsksDeps): Asks {
  async function acknowledge(tx: Tx, row: ItemRow): Promise<ItemRow> {
    const now = clock.now()
    const patch = { status: 'acknowledged', acknowledged_at: timestamp(now) } as const
    if (!(await operatorQueueStore(tx).move(row.id, 'responded', patch))) return row
    const after = { ...row, ...patch }
    await events.append(tx, itemEvent(after, await aboutIn(tx, row.agent_id)), now)
    return after
  }

  return {
    acknowledge,

    async ask(agent, body) {
      await limits.use(rateRules.ask, agent.id)
      const now = clock.now()
      const found = await db.atomically(async (tx) => {
        const store = operatorQueueStore(tx)
        const present = await store.byRequest(agent.id, body.request_id)
        if (present) return { row: present, isNew: false }
        // Of a new one alone: what is asked again a while later has come nearer to its end.
        refuseNearEnd(body.expires_at ?? null, now)
        await refuseWhenFull(tx, agent)
        const row = askRow(
          agent.id,
          { requestId: body.request_id, source: 'api', at: timestamp(now) },
          body,
          {
            proposal:
              body.proposal === undefined || body.proposal === null ? null : JSON.stringify(body.proposal),
            expires_at: body.expires_at ?? null,
            addressed_to_email: body.to_email?.toLowerCase() ?? null,
          },
        )
        if (!(await store.insert(row))) {
          const taken = await store.byRequest(agent.id, body.request_id)
          if (!taken) throw new Error('The ask came and went.')
          return { row: taken, isNew: false }
        }
        await events.append(tx, newItemEvent(row, await aboutIn(tx, agent.id)), now)
        return { row, isNew: true }
      })
      return { item: shownItem(found.row, agent.name, now), isNew: found.isNew }
    },

    async read(agent, requestId) {
      const row = await db.atomically(async (tx) => {
        const found = await operatorQueueStore(tx).byRequest(agent.id, requestId)
        if (!found) throw new Fault('not_found', `There is no ask "${requestId.slice(0, 80)}".`)
        return found.status === 'responded' ? acknowledge(tx, found) : found
      })
      return shownItem(row, agent.name, clock.now())
    },
  }
}

/** Throws `queue_full`. */
export async function refuseWhenFull(tx: Tx, agent: { id: string; name: string }): Promise<void> {
  const pending = await operatorQueueStore(tx).countPendingAsks(agent.id)
  if (pending < mostPendingAsks) return
  const detail = `${pending} asks of the agent "${agent.name}" are pending already.`
  throw new Fault('queue_full', detail, { agent_name: agent.name, queue_length: pending })
}

function refuseNearEnd(expiresAt: string | null, now: Date): void {
  if (expiresAt === null || expiresAt >= timestamp(secondsLater(now, shortestAskMinutes * 60))) return
  throw invalidField(['expires_at'], `must be at least ${shortestAskMinutes} minutes ahead`)
}

export function askRow(
  agentId: string,
  of: { requestId: string; source: 'api' | 'file'; at: string },
  ask: AskText,
  more: Pick<ItemRow, 'proposal' | 'expires_at' | 'addressed_to_email'>,
): ItemRow {
  const { options, context, ...text } = essence(ask)
  return {
    ...blankItem,
    id: newId(),
    agent_id: agentId,
    request_id: of.requestId,
    ...text,
    options: JSON.stringify(options),
    context: JSON.stringify(context),
    ...more,
    created_at: of.at,
    source: of.source,
  }
}
