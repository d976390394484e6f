import type { Race, SentRequest } from './load.ts'
import type { RunRecord, Transcript } from './records.ts'
import { answerTo } from './requests.ts'

/** Everything observed from outside after the platform became idle. */
export type Evidence = {
  requests: readonly SentRequest[]
  races: readonly Race[]
  records: readonly RunRecord[]
  transcripts: readonly Transcript[]
  /** The runtimes that worked on each run, by the key of the run. */
  marks: ReadonlyMap<string, string[]>
  leftovers: readonly string[]
  slots: { agent: string; active: number; queued: number }[]
  /** Agents that could not use all their slots in the final check. */
  slotsNotUsable: readonly string[]
  /** Null: the platform did not return the report. */
  invariants: { ok: boolean; read: { executions: number }; violations: object[] } | null
  /** Exits of the API process that no blow caused. */
  crashes: readonly string[]
}

export const rules = [
  'lost',
  'accepted twice',
  'spawned twice',
  'stuck',
  'slot leaked',
  'unexplained',
  'wrong answer',
  'broken transcript',
  'left running',
  'terminate told wrongly',
  'unexpected answer',
  'invariant broken',
  'crashed by itself',
] as const
export type Rule = (typeof rules)[number]
export type Violation = { rule: Rule; subject: string; detail: string }

export function violationsOf(evidence: Evidence): Violation[] {
  const byKey = Map.groupBy(evidence.records, ({ message }) => keyOf(message))
  return [
    ...acceptance(evidence.requests, byKey),
    ...spawns(evidence, byKey),
    ...evidence.records.flatMap(ends),
    ...evidence.transcripts.flatMap(transcript),
    ...slots(evidence),
    ...evidence.leftovers.map((detail) => found('left running', 'container', detail)),
    ...races(evidence),
    ...invariants(evidence),
    ...evidence.crashes.map((detail) => found('crashed by itself', 'API', detail)),
  ]
}

export const keyOf = (message: string): string => /^RUN\d+/.exec(message)?.[0] ?? ''
export const isFinal = ({ status }: Pick<RunRecord, 'status'>) =>
  ['success', 'failed', 'cancelled', 'skipped'].includes(status)

function found(rule: Rule, subject: string, detail: string): Violation {
  return { rule, subject, detail }
}

/** Acknowledged requests have records, and a repeated request created no second one while the first was valid. */
function acceptance(requests: readonly SentRequest[], byKey: ReadonlyMap<string, RunRecord[]>): Violation[] {
  return requests.flatMap(({ ask, acknowledged, unexpected }) => [
    ...(unexpected === null ? [] : [found('unexpected answer', ask.idempotencyKey, unexpected)]),
    ...ask.runKeys.flatMap((key): Violation[] => {
      const rows = (byKey.get(key) ?? []).toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
      if (rows.length === 0 && acknowledged) return [found('lost', key, `${ask.kind}: no record`)]
      return rows.slice(0, -1).flatMap((row, index) => {
        const next = rows[index + 1]
        // The idempotency key of a failed run is free again.
        const isVoid = ['failed', 'cancelled'].includes(row.status)
        const wasOver = next && row.completed_at !== null && row.completed_at <= next.created_at
        if (isVoid && wasOver) return []
        return [found('accepted twice', key, `${row.id} ${row.status} and ${next?.id}`)]
      })
    }),
  ])
}

/** A record has at most one runtime; a successful one has exactly one. */
function spawns({ marks }: Evidence, byKey: ReadonlyMap<string, RunRecord[]>): Violation[] {
  const doubled = [...marks].flatMap(([key, runtimes]) => {
    const rows = byKey.get(key) ?? []
    const count = new Set(runtimes).size
    return count > rows.length
      ? [found('spawned twice', key, `${count} runtimes, ${rows.length} records: ${runtimes.join('; ')}`)]
      : []
  })
  const unworked = [...byKey].flatMap(([key, rows]) =>
    rows.some(({ status }) => status === 'success') && !marks.has(key) && key !== ''
      ? [found('wrong answer', key, 'succeeded, but no runtime left a mark')]
      : [],
  )
  return [...doubled, ...unworked]
}

function ends(row: RunRecord): Violation[] {
  if (!isFinal(row)) return [found('stuck', row.id, `${row.agent_name}: still ${row.status}`)]
  if (row.completed_at === null) return [found('unexplained', row.id, `${row.status} without an end time`)]
  if (row.status === 'success') {
    const expected = answerTo(keyOf(row.message))
    return row.response === expected
      ? []
      : [found('wrong answer', row.id, `responded ${String(row.response).slice(0, 200)}`)]
  }
  if (row.error_code && row.error) return []
  return [found('unexplained', row.id, `${row.status}, code ${row.error_code}, error ${row.error}`)]
}

function transcript({ executionId, numbers, hasResult }: Transcript): Violation[] {
  const gap = numbers.findIndex((number, index) => number !== index + 1)
  if (gap !== -1)
    return [found('broken transcript', executionId, `line ${gap + 1} is numbered ${numbers[gap]}`)]
  return hasResult
    ? []
    : [found('broken transcript', executionId, `${numbers.length} lines without a result`)]
}

function slots(evidence: Evidence): Violation[] {
  return [
    ...evidence.slots
      .filter(({ active, queued }) => active + queued > 0)
      .map(({ agent, active, queued }) => found('slot leaked', agent, `${active} active, ${queued} queued`)),
    ...evidence.slotsNotUsable.map((agent) => found('slot leaked', agent, 'cannot use all its slots')),
  ]
}

const winning = ['cancelled_while_queued', 'cancelled_while_parked', 'terminated']

/** At most one caller wins, and its reply matches the record and the work of the runtime. */
function races({ races: all, records, marks }: Evidence): Violation[] {
  const byId = new Map(records.map((row) => [row.id, row]))
  return all.flatMap(({ executionId, words }) => {
    const row = byId.get(executionId)
    const winners = words.filter((word): word is string => word !== null && winning.includes(word))
    const wrong = (detail: string) => [found('terminate told wrongly', executionId, detail)]
    if (words.some((word) => word !== null && word !== 'already_finished' && !winning.includes(word)))
      return wrong(`unknown word among ${words.join(', ')}`)
    if (winners.length > 1) return wrong(`${winners.length} winners: ${winners.join(', ')}`)
    const [word] = winners
    if (!row || word === undefined) return []
    if (row.status !== 'cancelled' || row.error_code !== 'user_cancelled')
      return wrong(`${word}, but the record is ${row.status} ${row.error_code}`)
    const hasRun = marks.has(keyOf(row.message))
    if (word !== 'terminated' && hasRun) return wrong(`${word}, but its runtime had worked`)
    return []
  })
}

function invariants({ invariants: report }: Evidence): Violation[] {
  if (!report) return [found('invariant broken', 'report', 'was not returned')]
  if (report.read.executions === 0) return [found('invariant broken', 'report', 'read nothing')]
  return report.violations.map((each) => found('invariant broken', 'report', JSON.stringify(each)))
}
