import { finalStatuses } from '@roost/contracts/runs/executions'
import type { Executor } from '../../ports/database/port.ts'
import type { AgentRecord, EventRecord, FanOutRecord, Records, RunRecord } from './records.ts'

/** Columns of other features' tables. */
type InvariantTables = {
  agents: AgentRecord
  executions: RunRecord
  fan_outs: FanOutRecord
  outbox: {
    sequence: number
    position: number | null
    type: string
    agent_ids: string
    fields: string
    ts: string
  }
  outbox_head: { position: number }
  settings: { key: string; updated_at: string }
}

/** Limits of one check, so that it takes milliseconds on a busy platform. */
export const maxRows = 5_000
export const maxEvents = 5_000
/** Events are ordered by commit, and their times can differ from that order by the length of a transaction. */
const marginMs = 60_000
const batchSize = 500

const columns = [
  'id',
  'agent_id',
  'status',
  'triggered_by',
  'created_at',
  'queued_at',
  'started_at',
  'completed_at',
  'claim_token',
  'lease_expires_at',
  'serial_key',
  'fan_out_id',
] as const
const openStatuses = ['queued', 'running', 'pending_retry'] as const

/** Reads the tables of other features; writes nothing. */
export async function readRecords(executor: Executor): Promise<Records> {
  const db = executor.withTables<InvariantTables>()
  const runs = () => db.selectFrom('executions').select(columns)

  async function runsOf(ids: readonly string[]): Promise<RunRecord[]> {
    const found: RunRecord[] = []
    for (let from = 0; from < ids.length; from += batchSize) {
      found.push(
        ...(await runs()
          .where('id', 'in', ids.slice(from, from + batchSize))
          .execute()),
      )
    }
    return found
  }

  /** Needs all open runs: otherwise a fan-out could wrongly appear to have none. */
  function fanOutsOf(open: readonly RunRecord[]): Promise<FanOutRecord[]> {
    const ids = [...new Set(open.flatMap(({ fan_out_id }) => fan_out_id ?? []))].slice(0, batchSize)
    return db
      .selectFrom('fan_outs')
      .select(['id', 'agent_id', 'created_at', 'completed_at'])
      .where((of) =>
        of.or([of('completed_at', 'is', null), ...(ids.length > 0 ? [of('id', 'in', ids)] : [])]),
      )
      .limit(maxRows)
      .execute()
  }

  const agents = await db
    .selectFrom('agents')
    .select(['id', 'name', 'desired', 'status', 'max_parallel_tasks', 'disk_state'])
    .execute()
  const open = await runs()
    .where('completed_at', 'is', null)
    .where('status', 'in', [...openStatuses])
    .orderBy('status', 'desc')
    .orderBy('queued_at')
    .limit(maxRows)
    .execute()
  const rows = await db
    .selectFrom('outbox')
    .select(['sequence', 'position', 'type', 'agent_ids', 'fields', 'ts'])
    .orderBy('sequence', 'desc')
    .limit(maxEvents)
    .execute()
  const head = await db.selectFrom('outbox_head').select('position').executeTakeFirstOrThrow()
  const since = completeSince(rows, head.position)
  const newestFirst = runs().orderBy('created_at', 'desc').limit(maxRows)
  const newest = since === null ? [] : await newestFirst.where('created_at', '>=', since).execute()
  const leased = await runs()
    .where('status', 'in', [...finalStatuses])
    .where('lease_expires_at', 'is not', null)
    .limit(batchSize)
    .execute()
  const events = rows.map(eventOf).reverse()
  const known = new Set([...open, ...newest].map(({ id }) => id))
  const further = new Set(events.flatMap(({ executionId }) => (executionId ? [executionId] : [])))
  const named = await runsOf([...further].filter((id) => !known.has(id)))
  const fanOuts = open.length < maxRows ? await fanOutsOf(open) : []
  const ceiling = await db
    .selectFrom('settings')
    .select('updated_at')
    .where('key', '=', 'max_parallel_tasks_ceiling')
    .executeTakeFirst()
  return {
    agents,
    open,
    newest,
    named,
    leased,
    fanOuts,
    events,
    ceilingChangedAt: ceiling?.updated_at ?? null,
  }
}

/** Time from which all events of new runs are among these; '' when none was ever removed, null when all were. */
function completeSince(
  newestFirst: readonly { position: number | null; ts: string }[],
  head: number,
): string | null {
  const oldest = newestFirst.at(-1)
  if (!oldest && head > 0) return null
  const isComplete = newestFirst.length < maxEvents && (oldest?.position ?? 1) <= 1
  if (!oldest || isComplete) return ''
  return new Date(Date.parse(oldest.ts) + marginMs).toISOString()
}

function eventOf(row: {
  sequence: number
  type: string
  agent_ids: string
  fields: string
  ts: string
}): EventRecord {
  // The outbox writes an array of text and an object.
  const fields = JSON.parse(row.fields) as Record<string, unknown>
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  const isOfRun = row.type.startsWith('execution.')
  return {
    sequence: row.sequence,
    type: row.type,
    ts: row.ts,
    agentIds: JSON.parse(row.agent_ids) as string[],
    executionId: isOfRun ? text(fields.execution_id) : null,
    status: text(fields.status),
    setting: text(fields.setting),
  }
}
