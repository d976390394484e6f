import { TimestampInput } from '@roost/contracts/kit/primitives'
import type { AgentCalls } from '@roost/contracts/link/messages'
import type { QueueUpdate } from '@roost/contracts/link/queue'
import { askFields, mostPendingAsks, RequestId } from '@roost/contracts/operations/operator-queue'
import { z } from 'zod'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Alerts, aboutIn } from './alerts.ts'
import { type Asks, askRow } from './asks.ts'
import { newItemEvent } from './events.ts'
import type { Resolve } from './resolve.ts'
import { essence, saysTheSame, textOf } from './rules.ts'
import { alertKey, type ItemRow, operatorQueueStore } from './store.ts'

/** Where agents keep their requests; as alerts name it. */
export const queueFile = '~/.roost/operator-queue.json'

const Entry = z
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
  alerts: Alerts
  asks: Pick<Asks, 'acknowledge'>
  resolve: Pick<Resolve, 'cancelIn'>
}

/**
 * Brings an agent's file and its items together: new pending entries become items, and the answer says what the
 * file is to say of those that have ended. Level, not edge: told the same twice, nothing happens twice.
 */
export function createFileEntries({ db, clock, events, alerts, asks, resolve }: FileEntriesDeps) {
  async function add(tx: Tx, agentId: string, entry: Entry, now: Date): Promise<void> {
    const store = operatorQueueStore(tx)
    // What does not fit now is looked at again when the file is told the next time.
    if ((await store.countPendingAsks(agentId)) >= mostPendingAsks) return
    const row = askRow(agentId, { requestId: entry.id, source: 'file', at: timestamp(now) }, entry, {
      proposal: null,
      expires_at: entry.expires_at ?? null,
      addressed_to_email: entry.addressed_to_email?.toLowerCase() ?? null,
    })
    if (await store.insert(row)) await events.append(tx, newItemEvent(row, await aboutIn(tx, agentId)), now)
  }

  /** The item after what its entry says was taken in. */
  async function follow(tx: Tx, row: ItemRow, entry: Entry): Promise<ItemRow> {
    if (row.status === 'responded' && entry.status === 'acknowledged') return asks.acknowledge(tx, row)
    if (row.status !== 'pending') return row
    if (entry.status === 'cancelled') {
      return (await resolve.cancelIn(tx, row, 'The agent withdrew it.')) ?? row
    }
    if (row.source !== 'file') return row
    const entryNow = saysTheSame(textOf(row), entry) ? null : JSON.stringify(essence(entry))
    if (entryNow !== row.entry_now) await operatorQueueStore(tx).noteEntry(row.id, entryNow)
    return row
  }

  async function tellUnreadable(tx: Tx, agentId: string, reasons: readonly string[]): Promise<void> {
    await alerts.raiseAlert(tx, {
      agentId,
      kind: 'workspace_unreadable',
      title: `${queueFile} cannot be read`,
      question: `What the agent asks in this file reaches nobody:\n${reasons.join('\n')}`,
      priority: 'medium',
      context: { path: queueFile, reasons },
    })
  }

  /** Only the alert that this feature has raised itself: others may have their own cause. */
  async function tellReadable(tx: Tx, agentId: string): Promise<void> {
    const alert = await operatorQueueStore(tx).pendingAlert(alertKey(agentId, 'workspace_unreadable'))
    const context: unknown = alert && JSON.parse(alert.context)
    const isOurs =
      typeof context === 'object' && context !== null && 'path' in context && context.path === queueFile
    if (isOurs) await alerts.clearAlert(tx, agentId, 'workspace_unreadable')
  }

  return async function takeFile(
    agentId: string,
    { requests, fault }: Omit<AgentCalls['queue']['request'], 't'>,
  ): Promise<AgentCalls['queue']['answer']> {
    const { entries, faults } = readEntries(requests ?? [])
    const reasons = fault === null ? faults : [fault, ...faults]
    const now = clock.now()
    return db.atomically(async (tx) => {
      // Of an agent that is just being deleted nothing is kept.
      if (!(await aboutIn(tx, agentId))) return { updates: [] }
      if (reasons.length > 0) await tellUnreadable(tx, agentId, reasons)
      else await tellReadable(tx, agentId)
      const rows = await operatorQueueStore(tx).byRequests(agentId, [...entries.keys()])
      const known = new Map(rows.map((row) => [row.request_id, row]))
      const updates: QueueUpdate[] = []
      for (const entry of entries.values()) {
        const row = known.get(entry.id)
        if (!row && entry.status === 'pending') await add(tx, agentId, entry, now)
        const update = row && updateOf(await follow(tx, row, entry), entry)
        if (update) updates.push(update)
      }
      return { updates }
    })
  }
}

const toldFaults = 10

/** By id; of several entries with one id the last counts. */
function readEntries(requests: readonly unknown[]): { entries: Map<string, Entry>; faults: string[] } {
  const entries = new Map<string, Entry>()
  const faults: string[] = []
  for (const [index, request] of requests.entries()) {
    const entry = Entry.safeParse(request)
    if (entry.success) entries.set(entry.data.id, entry.data)
    else if (faults.length < toldFaults) {
      const [issue] = entry.error.issues
      faults.push(`requests[${index}].${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`)
    }
  }
  return { entries, faults }
}

/** What an entry is to say; null when it says so. */
function updateOf(row: ItemRow, entry: Entry): QueueUpdate | null {
  const { status } = row
  if (status === 'pending' || status === entry.status) return null
  // An agent that marks its own entries is not told what it has done.
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
