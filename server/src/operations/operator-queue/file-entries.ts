import { TimestampInput } from '@roost/contracts/kit/primitives'
import type { AgentCalls } from '@roost/contracts/link/messages'
import type { QueueUpdate } from '@roost/contracts/link/queue'
import { askFields, mostPendingAsks, RequestId } from '@roost/contracts/operations/operator-queue'
import { z } from 'zod'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Asks, askRow } from './asks.ts'
import { itemAgent, newItemEvent } from './events.ts'
import type { Resolve } from './resolve.ts'
import { contentOf, haveSameContent, textOf } from './rules.ts'
import { alertKey, type ItemRow, operatorQueueStore } from './store.ts'

/** File with an agent's requests, as alerts name it. */
export const queueFile = '~/.roost/operator-queue.json'

export const Entry = z
  .object({
    id: RequestId,
    ...askFields,
    status: z
      .enum(['pending', 'responded', 'acknowledged', 'cancelled', 'expired'])
      .nullish()
      .transform((value) => value ?? 'pending'),
    expires_at: TimestampInput.nullish(),
    addressed_to_email: z.email().max(254).nullish(),
  })
  .refine(({ type, options }) => type !== 'approval' || options.length > 0, {
    path: ['options'],
    message: 'an approval needs options',
  })
type Entry = z.output<typeof Entry>

export type FileEntriesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  limits: Pick<RateLimits, 'use'>
  asks: Pick<Asks, 'acknowledge'>
  resolve: Pick<Resolve, 'cancelIn'>
  /** Called in the transaction that stores a new item. */
  itemAdded(tx: Tx, itemId: string): Promise<void>
}

/**
 * Reconciles an agent's file with its items: new pending entries become items, and the reply contains the updates of
 * resolved ones. Idempotent: the same file twice changes nothing.
 */
export function createFileEntries(deps: FileEntriesDeps) {
  const { db, clock, events, alerts, limits, asks, resolve, itemAdded } = deps

  async function add(tx: Tx, agentId: string, entry: Entry, now: Date): Promise<void> {
    const store = operatorQueueStore(tx)
    // The next message about the file tries again.
    if ((await store.countPendingAsks(agentId)) >= mostPendingAsks) return
    const row = askRow(agentId, { requestId: entry.id, source: 'file', at: timestamp(now) }, entry, {
      proposal: null,
      expires_at: entry.expires_at ?? null,
      addressed_to_email: entry.addressed_to_email?.toLowerCase() ?? null,
    })
    if (!(await store.insert(row))) return
    await itemAdded(tx, row.id)
    await events.append(tx, newItemEvent(row, await itemAgent(tx, agentId)), now)
  }

  /** Applies the state of an entry to its item and returns the item. */
  async function applyEntry(tx: Tx, row: ItemRow, entry: Entry): Promise<ItemRow> {
    if (row.status === 'responded' && entry.status === 'acknowledged') return asks.acknowledge(tx, row)
    if (row.status !== 'pending') return row
    if (entry.status === 'cancelled') {
      return (await resolve.cancelIn(tx, row, 'The agent withdrew it.')) ?? row
    }
    const entryNow = haveSameContent(textOf(row), entry) ? null : JSON.stringify(contentOf(entry))
    if (entryNow !== row.entry_now) await operatorQueueStore(tx).noteEntry(row.id, entryNow)
    return row
  }

  async function raiseUnreadable(tx: Tx, agentId: string, reasons: readonly string[]): Promise<void> {
    await alerts.raise(tx, {
      agentId,
      kind: 'workspace_unreadable',
      title: `${queueFile} cannot be read`,
      question: `Nobody gets the requests in this file:\n${reasons.join('\n')}`,
      priority: 'medium',
      context: { path: queueFile, reasons },
    })
  }

  /** Clears only the alert of this feature: others of this kind have their own cause. */
  async function clearUnreadable(tx: Tx, agentId: string): Promise<void> {
    const alert = await operatorQueueStore(tx).pendingAlert(alertKey(agentId, 'workspace_unreadable'))
    const context: unknown = alert && JSON.parse(alert.context)
    const isOwn =
      typeof context === 'object' && context !== null && 'path' in context && context.path === queueFile
    if (isOwn) await alerts.clear(tx, agentId, 'workspace_unreadable')
  }

  /** The new entries that the rate of the agent's asks allows now. */
  async function allowedOf(agentId: string, entries: ReadonlyMap<string, Entry>) {
    const known = await operatorQueueStore(db).byRequests(agentId, [...entries.keys()])
    const ids = new Set(known.map((row) => row.request_id))
    const added = [...entries.values()].filter(({ id, status }) => status === 'pending' && !ids.has(id))
    const allowed = new Set<string>()
    for (const { id } of added.slice(0, mostPendingAsks)) {
      try {
        await limits.use(rateRules.ask, agentId)
      } catch (error) {
        if (!isFault(error, 'rate_limited')) throw error
        return { allowed, isLimited: true }
      }
      allowed.add(id)
    }
    return { allowed, isLimited: false }
  }

  return async function takeFile(
    agentId: string,
    { requests, fault }: Omit<AgentCalls['queue']['request'], 't'>,
  ): Promise<AgentCalls['queue']['answer']> {
    const { entries, faults } = readEntries(requests ?? [])
    const reasons = fault === null ? faults : [fault, ...faults]
    const { allowed, isLimited } = await allowedOf(agentId, entries)
    const answer = await reconcile(agentId, { entries, reasons, allowed })
    // The agent sends the file again after a failure.
    if (isLimited) throw new LinkFault({ code: 'io_error', message: 'Too many new asks; try again soon.' })
    return answer
  }

  async function reconcile(
    agentId: string,
    { entries, reasons, allowed }: { entries: Map<string, Entry>; reasons: string[]; allowed: Set<string> },
  ): Promise<AgentCalls['queue']['answer']> {
    const now = clock.now()
    return db.atomically(async (tx) => {
      // Stores nothing for an agent that is being deleted.
      if (!(await itemAgent(tx, agentId))) return { updates: [] }
      if (reasons.length > 0) await raiseUnreadable(tx, agentId, reasons)
      else await clearUnreadable(tx, agentId)
      const rows = await operatorQueueStore(tx).byRequests(agentId, [...entries.keys()])
      const known = new Map(rows.map((row) => [row.request_id, row]))
      const updates: QueueUpdate[] = []
      for (const entry of entries.values()) {
        const row = known.get(entry.id)
        // Sharers can write the file. It must not change or reveal what the agent asked through the API.
        if (row && row.source !== 'file') continue
        if (!row && allowed.has(entry.id)) await add(tx, agentId, entry, now)
        const update = row && updateOf(await applyEntry(tx, row, entry), entry)
        if (update) updates.push(update)
      }
      return { updates }
    })
  }
}

const maxReportedFaults = 10

/** Returns entries by id. Of duplicate ids the last counts. */
export function readEntries(requests: readonly unknown[]): { entries: Map<string, Entry>; faults: string[] } {
  const entries = new Map<string, Entry>()
  const faults: string[] = []
  for (const [index, request] of requests.entries()) {
    const entry = Entry.safeParse(request)
    if (entry.success) entries.set(entry.data.id, entry.data)
    else if (faults.length < maxReportedFaults) {
      const [issue] = entry.error.issues
      faults.push(`requests[${index}].${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`)
    }
  }
  return { entries, faults }
}

/** The update that makes an entry match its item; null when it does. */
function updateOf(row: ItemRow, entry: Entry): QueueUpdate | null {
  const { status } = row
  if (status === 'pending' || status === entry.status) return null
  // The agent has acknowledged the entry itself.
  if (status !== 'acknowledged' && entry.status === 'acknowledged') return null
  return {
    id: entry.id,
    status,
    response: row.response,
    response_text: row.response_text,
    responded_by: row.responded_by_email,
    responded_at: row.responded_at,
  }
}
