import type { ExecutionTables } from '../../server/src/runs/executions/tables.ts'
import type { Seen } from './agents.ts'
import type { Side } from './side.ts'

/** Returns the faults of a round, from the agents' observations and from the rows. */
export async function faultsOf(side: Side, seen: Seen, slots: number, since: string): Promise<string[]> {
  const faults: string[] = []
  if (seen.most > slots) faults.push(`an agent held ${seen.most} runs at a time`)
  for (const [agent, messages] of seen.order) {
    if (!isAscending(messages.map(numberOf))) faults.push(`${agent} was handed runs out of order`)
  }
  const rows = await side.db
    .withTables<ExecutionTables>()
    .selectFrom('executions')
    .select(['agent_name', 'status', 'started_at', 'completed_at', 'message', 'claim_token'])
    .where('created_at', '>=', since)
    .orderBy('claim_token')
    .execute()
  const open = rows.filter(({ status }) => status !== 'success').length
  if (open > 0) faults.push(`${open} rows did not end well`)
  for (const [agent, ofAgent] of Map.groupBy(rows, (row) => row.agent_name)) {
    const maxRuns = maxConcurrent(ofAgent)
    if (maxRuns > slots) faults.push(`rows of ${agent} show ${maxRuns} concurrent runs`)
    // Runs of one claim share its token.
    const inOrder = ofAgent.toSorted((a, b) => (a.claim_token ?? 0) - (b.claim_token ?? 0))
    const claims = [...Map.groupBy(inOrder, (row) => row.claim_token).values()]
    const numbers = claims.flatMap((claim) => claim.map((row) => numberOf(row.message)).sort((a, b) => a - b))
    if (!isAscending(numbers)) faults.push(`rows of ${agent} show another order`)
  }
  return faults
}

/** `… #17` */
export function numberOf(message: string): number {
  return Number(message.slice(message.lastIndexOf('#') + 1))
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))
}

/** A run that ends in the millisecond in which another starts frees its slot first. */
function maxConcurrent(rows: readonly { started_at: string | null; completed_at: string | null }[]): number {
  const edges = rows.flatMap(({ started_at, completed_at }) => [
    { at: started_at ?? '', step: 1 },
    { at: completed_at ?? '9', step: -1 },
  ])
  edges.sort((a, b) => (a.at === b.at ? a.step - b.step : a.at < b.at ? -1 : 1))
  let now = 0
  let maximum = 0
  for (const { step } of edges) {
    now += step
    maximum = Math.max(maximum, now)
  }
  return maximum
}
