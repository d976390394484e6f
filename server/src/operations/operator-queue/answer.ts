import type { RespondBody } from '@roost/contracts/operations/operator-queue'
import { agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { itemAgent, itemEvent } from './events.ts'
import { contentOf, inLockOrder, optionsOf, textOf } from './rules.ts'
import { type ItemRow, operatorQueueStore, type Scope } from './store.ts'

/** The person who answers; `id` is null without an account. */
export type Answerer = { id: string | null; email: string | null }

export type AnswerDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  /** Called in the transaction that resolves an item. */
  settled(tx: Tx, row: ItemRow): void
}

/** One answer to several items. Items that do not accept it are skipped. */
export type AnswerToAll = Omit<RespondBody, 'acknowledge_divergence'>

export type Answering = {
  /**
   * Answers an item that the caller may see. One of several concurrent answers counts; the others throw
   * `item_not_pending`. Throws `item_diverged` with the present entry, and `option_not_offered`.
   */
  one(id: string, body: RespondBody, by: Answerer): Promise<ItemRow>
  /** Skips items outside the scope, and those that `one` would refuse. */
  all(
    scope: Scope,
    ids: readonly string[],
    body: AnswerToAll,
    by: Answerer,
  ): Promise<{ answered: number; skipped: number; batch_id: string }>
}

export function createAnswer({ db, clock, events, settled }: AnswerDeps): Answering {
  async function answerIn(
    tx: Tx,
    row: ItemRow,
    body: RespondBody,
    { by, batchId }: { by: Answerer; batchId: string | null },
  ): Promise<ItemRow> {
    if (row.status !== 'pending') throw notPending(row)
    refuseDiverged(row, body)
    refuseOther(row, body.response)
    const now = clock.now()
    const at = timestamp(now)
    const patch = {
      status: 'responded',
      disposition: 'answered',
      response: body.response,
      response_text: body.response_text ?? null,
      responded_by_id: by.id,
      responded_by_email: by.email,
      responded_at: at,
      batch_id: batchId,
      pending_key: null,
      resume: (await resumes(tx, row)) ? 'due' : 'none',
      ...(row.entry_now === null ? {} : fieldsOfEntry(row.entry_now)),
    } as const
    // Refuses an expired item even before the loop has marked it.
    if (!(await operatorQueueStore(tx).move(row.id, 'pending', patch, at))) throw notPending(row)
    const after = { ...row, ...patch }
    await events.append(tx, itemEvent(after, await itemAgent(tx, row.agent_id)), now)
    settled(tx, after)
    return after
  }

  return {
    one: (id, body, by) =>
      db.atomically(async (tx) => {
        const row = await operatorQueueStore(tx).byId(id)
        if (!row) throw new Fault('not_found', 'There is no such item.')
        return answerIn(tx, row, body, { by, batchId: null })
      }),

    async all(scope, ids, body, by) {
      const batch_id = newId()
      const answered = await db.atomically(async (tx) => {
        let count = 0
        for (const id of inLockOrder(ids)) {
          const row = await operatorQueueStore(tx).visible(scope, id)
          const asOne = { ...body, acknowledge_divergence: false }
          const after = row && (await orSkipped(answerIn(tx, row, asOne, { by, batchId: batch_id })))
          if (after) count += 1
        }
        return count
      })
      return { answered, skipped: ids.length - answered, batch_id }
    },
  }
}

/** Faults that are thrown before any write. */
const skipping = ['item_not_pending', 'item_diverged', 'option_not_offered'] as const

async function orSkipped<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (skipping.some((code) => isFault(error, code))) return null
    throw error
  }
}

/** The answered item takes the entry that the person has acknowledged. */
function fieldsOfEntry(entryNow: string) {
  // This feature wrote it.
  const { options, context, ...text } = contentOf(JSON.parse(entryNow) as ReturnType<typeof textOf>)
  return { ...text, options: JSON.stringify(options), context: JSON.stringify(context), entry_now: null }
}

async function resumes(tx: Tx, row: ItemRow): Promise<boolean> {
  if (row.agent_id === null || row.source === 'platform') return false
  return (await agentStore(tx).byId(row.agent_id))?.operator_resume ?? false
}

export function notPending(row: Pick<ItemRow, 'status'>): Fault {
  const status = row.status === 'pending' ? 'expired' : row.status
  return new Fault('item_not_pending', `This item is ${status}.`, { status })
}

function refuseDiverged(row: ItemRow, { acknowledge_divergence }: RespondBody): void {
  if (row.entry_now === null || acknowledge_divergence) return
  const detail = 'The entry in the file has changed. Read it and acknowledge the change to answer.'
  throw new Fault('item_diverged', detail, { item: textOf(row), entry_now: JSON.parse(row.entry_now) })
}

function refuseOther(row: ItemRow, response: string): void {
  const options = optionsOf(row)
  if (options.length === 0 || options.includes(response)) return
  const detail = `"${response.slice(0, 100)}" is not offered; offered are ${options.map((option) => `"${option}"`).join(', ')}.`
  throw new Fault('option_not_offered', detail, { offered: options })
}
