import {
  type AskBody,
  mostPendingAsks,
  type QueueItem,
  shortestAskMinutes,
} from '@roost/contracts/operations/operator-queue'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { principalOf, principalOn, type SignedIn } from '../../identity/access/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { itemAgent, itemEvent, newItemEvent } from './events.ts'
import { type AskText, askKey, blankItem, contentOf, viewItem } from './rules.ts'
import { type ItemRow, operatorQueueStore } from './store.ts'

export type AsksDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  limits: Pick<RateLimits, 'use'>
  /** Called in the transaction that stores a new item. */
  itemAdded(tx: Tx, itemId: string): Promise<void>
}

/** An agent, or one of its runs. */
export type Asker = { agent: { id: string; name: string }; caller: SignedIn }

export type Asks = {
  /**
   * `isNew` is false for a repeated request id, which returns the existing item. Throws `rate_limited`, `queue_full`,
   * and `validation_error` for an expiry that is too near.
   */
  ask(by: Asker, body: AskBody): Promise<{ item: QueueItem; isNew: boolean }>
  /** Reads an ask of this caller, which acknowledges its answer. Throws `not_found`. */
  read(by: Asker, requestId: string): Promise<QueueItem>
  acknowledge(tx: Tx, row: ItemRow): Promise<ItemRow>
}

export function createAsks({ db, clock, events, limits, itemAdded }: AsksDeps): Asks {
  async function acknowledge(tx: Tx, row: ItemRow): Promise<ItemRow> {
    const now = clock.now()
    const patch = { status: 'acknowledged', acknowledged_at: timestamp(now) } as const
    if (!(await operatorQueueStore(tx).move(row.id, 'responded', patch))) return row
    const after = { ...row, ...patch }
    await events.append(tx, itemEvent(after, await itemAgent(tx, row.agent_id)), now)
    return after
  }

  return {
    acknowledge,

    async ask({ agent, caller }, body) {
      const requestId = askKey(askerOf(caller, agent.id), body.request_id)
      await limits.use(rateRules.ask, agent.id)
      const now = clock.now()
      const found = await db.atomically(async (tx) => {
        const store = operatorQueueStore(tx)
        const present = await store.byRequest(agent.id, requestId)
        if (present) return { row: present, isNew: false }
        // Only for a new ask: a repeated one is nearer to its expiry.
        refuseNearExpiry(body.expires_at ?? null, now)
        await refuseWhenFull(tx, agent)
        const row = askRow(agent.id, { requestId, source: 'api', at: timestamp(now) }, body, {
          proposal:
            body.proposal === undefined || body.proposal === null ? null : JSON.stringify(body.proposal),
          expires_at: body.expires_at ?? null,
          addressed_to_email: body.to_email?.toLowerCase() ?? null,
        })
        if (!(await store.insert(row))) {
          const existing = await store.byRequest(agent.id, requestId)
          if (!existing) throw new Error('The ask was deleted meanwhile.')
          return { row: existing, isNew: false }
        }
        await itemAdded(tx, row.id)
        await events.append(tx, newItemEvent(row, await itemAgent(tx, agent.id)), now)
        return { row, isNew: true }
      })
      return { item: viewItem(found.row, agent.name, now), isNew: found.isNew }
    },

    async read({ agent, caller }, requestId) {
      const key = askKey(askerOf(caller, agent.id), requestId)
      const row = await db.atomically(async (tx) => {
        const found = await operatorQueueStore(tx).byRequest(agent.id, key)
        if (!found) throw new Fault('not_found', `There is no ask "${requestId.slice(0, 80)}".`)
        return found.status === 'responded' ? acknowledge(tx, found) : found
      })
      return viewItem(row, agent.name, clock.now())
    },
  }
}

/**
 * The principal whose asks this caller can read: that of its run, if the run has not the owner's reach. Null: the asks
 * of the agent itself.
 */
function askerOf(caller: SignedIn, agentId: string): string | null {
  if (caller.kind !== 'key' || !caller.run || caller.run.reach === 'owner') return null
  return principalOn(agentId, principalOf(caller))
}

/** Throws `queue_full`. */
export async function refuseWhenFull(tx: Tx, agent: { id: string; name: string }): Promise<void> {
  const pending = await operatorQueueStore(tx).countPendingAsks(agent.id)
  if (pending < mostPendingAsks) return
  const detail = `${pending} asks of the agent "${agent.name}" are pending already.`
  throw new Fault('queue_full', detail, { agent_name: agent.name, queue_length: pending })
}

function refuseNearExpiry(expiresAt: string | null, now: Date): void {
  if (expiresAt === null || expiresAt >= timestamp(secondsLater(now, shortestAskMinutes * 60))) return
  throw invalidField(['expires_at'], `must be at least ${shortestAskMinutes} minutes ahead`)
}

export function askRow(
  agentId: string,
  of: { requestId: string; source: 'api' | 'file'; at: string },
  ask: AskText,
  more: Pick<ItemRow, 'proposal' | 'expires_at' | 'addressed_to_email'>,
): ItemRow {
  const { options, context, ...text } = contentOf(ask)
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
