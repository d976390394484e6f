/** Finished runs in the database of a running platform, as if its agents had worked for weeks. */
import { join } from 'node:path'
import type { ExecutionErrorCode, Trigger } from '@roost/contracts/runs/executions'
import type { Platform } from '../checks/acceptance/platform.ts'
import { newId } from '../server/src/kit/ids.ts'
import { openDatabase } from '../server/src/ports/database/open.ts'
import { silentLog } from '../server/src/ports/log.ts'

const triggers: readonly Trigger[] = ['chat', 'manual', 'schedule', 'mcp', 'agent', 'loop', 'webhook']
const statuses = ['success', 'success', 'success', 'failed', 'cancelled', 'success', 'skipped'] as const
/** Of failed runs. */
const errorCodes: readonly ExecutionErrorCode[] = [
  'agent_error',
  'timeout',
  'agent_error',
  'rate_limited',
  'network',
]
type Tables = { executions: Record<string, unknown>; agents: { id: string; name: string } }

const days = 40
const batch = 500
const filler = 'Look through what came in since yesterday and tell me what is worth a second look. '

/**
 * Inserts `total` runs over 40 days, half of them of the first of the agents `fleet-…`. Messages start with `Run <index>`; one in
 * fifty contains `needle`.
 */
export async function insertRuns({ dataDir }: Pick<Platform, 'dataDir'>, total: number): Promise<void> {
  const db = await openDatabase(`sqlite:${join(dataDir, 'roost.db')}`, silentLog)
  const rows = db.withTables<Tables>()
  const own = await rows
    .selectFrom('agents')
    .select(['id', 'name'])
    .where('name', 'like', 'fleet-%')
    .orderBy('name')
    .execute()
  const now = Date.now()
  for (let start = 0; start < total; start += batch) {
    const values = Array.from({ length: Math.min(batch, total - start) }, (_, offset) => {
      const index = start + offset
      const at = new Date(now - (total - index) * ((days * 86_400_000) / total)).toISOString()
      const agent = own[index % 2 === 0 ? 0 : index % own.length]
      if (!agent) throw new Error('The platform has no agents.')
      const status = statuses[index % statuses.length]
      const needle = index % 50 === 3 ? ' needle' : ''
      return {
        id: newId(),
        agent_id: agent.id,
        agent_name: agent.name,
        kind: 'task',
        status,
        triggered_by: triggers[Math.floor(index / statuses.length) % triggers.length],
        message: `Run ${index}${needle}: ${filler.repeat(1 + (index % 10))}`,
        ...finishedRun(index, at),
        error_code: status === 'failed' ? errorCodes[index % errorCodes.length] : null,
        model_used: index % 3 === 0 ? 'opus' : 'sonnet',
        response: filler.repeat(10),
      }
    })
    await rows.insertInto('executions').values(values).execute()
  }
  await db.close()
}

/** The columns of a finished run, with figures that differ from run to run. */
export function finishedRun(index: number, at: string) {
  return {
    request: '{}',
    ...{ created_at: at, queued_at: at, started_at: at, completed_at: at },
    queue_number: index,
    is_bounded: 1,
    duration_ms: (index * 7919) % 300_000,
    timeout_seconds: 3600,
    cost_micros: (index * 31) % 90_000,
    context_used: (index * 17) % 200_000,
    input_tokens: (index * 13) % 50_000,
    output_tokens: (index * 11) % 5_000,
  }
}
