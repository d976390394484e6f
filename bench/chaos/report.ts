import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { quantile } from '../measure.ts'
import { type Evidence, type Rule, rules, type Violation } from './judge.ts'
import type { ChaosOptions } from './options.ts'
import type { RunRecord } from './records.ts'
import type { Siege } from './siege.ts'

export type Findings = {
  options: ChaosOptions
  siege: Siege
  evidence: Evidence
  violations: Violation[]
  /** From the last blow until no run was open. */
  quietAfterMs: number
  /** Memory of the idle API process. */
  apiMegabytes: number | null
  /** Manual starts of agents after a restart loop. */
  starts: number
}

/** A recovered platform responds over every link within this time. */
export const recoveryLimitMs = 10_000

/** Writes the report as Markdown and JSON; returns the Markdown and its path. */
export async function writeReport(findings: Findings): Promise<{ text: string; path: string }> {
  const { options } = findings
  const text = markdown(findings)
  const name = `${options.scenario}-${options.database}-${options.seed}`
  await mkdir(options.out, { recursive: true })
  const path = join(options.out, `${name}.md`)
  await writeFile(path, text)
  const { evidence, ...rest } = findings
  const { requests, races, records } = evidence
  await writeFile(
    join(options.out, `${name}.json`),
    JSON.stringify({ ...rest, figures: figures(findings), evidence: { requests, races, records } }, null, 1),
  )
  return { text, path }
}

export function isClean(findings: Findings): boolean {
  return findings.violations.length === 0 && slowRecoveries(findings) === 0 && mostSucceeded(findings)
}

/** Fails a platform on which every run fails, even with a correct reason. */
function mostSucceeded({ evidence: { records } }: Findings): boolean {
  return records.filter(({ status }) => status === 'success').length * 2 > records.length
}

function slowRecoveries({ siege }: Findings): number {
  return siege.struck.filter(({ wholeAfterMs }) => (wholeAfterMs ?? 0) > recoveryLimitMs).length
}

export function figures(findings: Findings) {
  const { siege, evidence, violations, quietAfterMs, apiMegabytes } = findings
  const recoveries = siege.struck.flatMap(({ wholeAfterMs }) => wholeAfterMs ?? [])
  const sizes = siege.struck.flatMap(({ apiMegabytes: size }) => size ?? [])
  const words = evidence.races.flatMap(
    (race) => race.words.find((word) => word && word !== 'already_finished') ?? [],
  )
  return {
    blows: count(siege.struck.map(({ name }) => name)),
    requests: evidence.requests.length,
    repeated: evidence.requests.filter(({ attempts }) => attempts > 1).length,
    faults: count(evidence.requests.flatMap(({ faults }) => faults)),
    runs: evidence.records.length,
    statuses: count(evidence.records.map(({ status }) => status)),
    errors: count(evidence.records.flatMap(({ error_code }) => error_code ?? [])),
    marks: evidence.marks.size,
    races: evidence.races.length,
    words: count(words),
    phases: phases(siege, evidence.records),
    violations: Object.fromEntries(rules.map((rule) => [rule, ofRule(violations, rule)])) as Record<
      Rule,
      number
    >,
    recovery_ms: {
      measured: recoveries.length,
      p50: quantile(recoveries, 0.5),
      p95: quantile(recoveries, 0.95),
      max: Math.max(...recoveries),
    },
    quiet_after_ms: quietAfterMs,
    api_megabytes: { most: Math.max(...sizes, apiMegabytes ?? 0), at_end: apiMegabytes },
  }
}

/** Counts the phases of the runs at each blow; sums over all blows. */
function phases({ struck }: Siege, records: readonly RunRecord[]) {
  const sums = { accepted: 0, queued: 0, starting: 0, running: 0, ending: 0 }
  const at = (time: string | null) => (time === null ? Number.POSITIVE_INFINITY : Date.parse(time))
  const spans = records.map((row) => ({
    created: at(row.created_at),
    started: at(row.started_at),
    completed: at(row.completed_at),
  }))
  for (const now of struck.map((each) => Date.parse(each.at))) {
    for (const { created, started, completed } of spans) {
      if (created > now || completed < now) continue
      if (now - created < 200) sums.accepted += 1
      else if (started > now) sums.queued += 1
      else if (completed - now < 200) sums.ending += 1
      else if (now - started < 700) sums.starting += 1
      else sums.running += 1
    }
  }
  return sums
}

function markdown(findings: Findings): string {
  const { options, siege, violations } = findings
  const values = figures(findings)
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, number]) => `${name} ${number}`)
      .join(', ') || 'none'
  const { recovery_ms: recovery, api_megabytes: size } = values
  const rows: [string, string][] = [
    ['scenario', `${options.scenario} on ${options.database}, seed ${options.seed}`],
    ['blows', `${siege.struck.length}: ${list(values.blows)}`],
    ['requests', `${values.requests}, ${values.repeated} of them repeated`],
    ['replies with status 500 and above', list(values.faults)],
    ['runs', `${values.runs}: ${list(values.statuses)}`],
    ['why runs failed', list(values.errors)],
    ['phases of runs at the blows', list(values.phases)],
    ['raced terminates', `${values.races} of twenty callers: ${list(values.words)}`],
    ...rules.map((rule): [string, string] => [rule, String(values.violations[rule])]),
    [
      'recovery time',
      `p50 ${seconds(recovery.p50)}, p95 ${seconds(recovery.p95)}, at most ${seconds(recovery.max)} (${recovery.measured} measured, ${slowRecoveries(findings)} over ${seconds(recoveryLimitMs)})`,
    ],
    ['agents started manually after a restart loop', String(findings.starts)],
    ['idle after the last blow', seconds(values.quiet_after_ms)],
    ['memory of the API', `at most ${size.most.toFixed(0)} MB, ${size.at_end?.toFixed(0)} MB at the end`],
  ]
  return [
    `# Chaos: ${isClean(findings) ? 'nothing broken' : 'VIOLATIONS'}`,
    '',
    '| | |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    '',
    ...violations.slice(0, 100).map(({ rule, subject, detail }) => `- **${rule}** ${subject}: ${detail}`),
    '',
  ].join('\n')
}

function ofRule(violations: readonly Violation[], rule: Rule): number {
  return violations.filter((each) => each.rule === rule).length
}

function count(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))
}
