/**
 * Several API processes compared with one, both behind nginx with PostgreSQL and Redis: processor time of all processes
 * of Roost without runs, per 1,000 runs at a steady rate and as fast as possible, and requests that fail when one API
 * process of three is killed.
 * `node bench/replicas.ts [rounds]`
 */
import { setTimeout as pause } from 'node:timers/promises'
import { keepBenchmark } from './keeper/index.ts'
import { median, record, report } from './measure.ts'
import { requestsThroughKill } from './replicas/kill.ts'
import { openReplicas, type Side, type Spent } from './replicas/side.ts'

await keepBenchmark()

const rounds = Number(process.argv[2] ?? 5)
const limit = 1.1
/** Runs before the measurement, for each API process: it opens connections and compiles code. */
const warmUpRuns = 2000
const idleSeconds = 30
/** 860,000 runs a day. */
const runsPerSecond = 10
const steadyRuns = 300
const fastRuns = 1000

await using one = await openReplicas(1)
await using three = await openReplicas(3)
const sides = [one, three]
await inOrder(sides, (side) => side.run(side.count * warmUpRuns))

/** Processor time of each side, in milliseconds per 1,000 runs, or per second without runs. */
type Costs = Record<'idle' | 'steady' | 'fast', Spent[]>
const costs = new Map(sides.map((side): [Side, Costs] => [side, { idle: [], steady: [], fast: [] }]))
for (let round = 0; round < rounds; round += 1) {
  // Both sides at the same time, so that other work of the machine changes both.
  const idle = () => pause(idleSeconds * 1000)
  await Promise.all(sides.map((side) => measure(side, 'idle', idle, idleSeconds)))
  const steady = (side: Side) => () => side.run(steadyRuns, runsPerSecond)
  await Promise.all(sides.map((side) => measure(side, 'steady', steady(side), steadyRuns / 1000)))
  await inOrder(round % 2 === 0 ? sides : sides.toReversed(), (side) =>
    measure(side, 'fast', () => side.run(fastRuns), fastRuns / 1000),
  )
}

const shown = (side: Side, phase: keyof Costs, name: keyof Spent) =>
  median((costs.get(side)?.[phase] ?? []).map((spent) => spent[name]))
compare('processor time without runs, three replicas', 'idle', 'roostMs', 'ms per second')
compare('wakes of the processes', 'idle', 'wakes', 'times per second')
for (const [phase, row] of [
  ['steady', `processor time per 1,000 runs at ${runsPerSecond} per second, three replicas`],
  ['fast', 'processor time per 1,000 runs as fast as possible, three replicas'],
] as const) {
  compare(row, phase, 'roostMs', 'ms')
  compare('the same with PostgreSQL and Redis', phase, 'totalMs', 'ms')
  compare('wakes of the processes', phase, 'wakes', 'times')
}
/** Without what the processes use anyway. A busy machine takes longer than the rate demands. */
const ofRuns = (side: Side) =>
  shown(side, 'steady', 'roostMs') -
  (shown(side, 'idle', 'roostMs') * shown(side, 'steady', 'seconds') * 1000) / steadyRuns
recordRatio(`the runs alone at ${runsPerSecond} per second`, ofRuns(three), ofRuns(one), 'ms', limit)

const killed = await requestsThroughKill(three)
record({
  row: `requests while one of three is killed (${killed.sent} sent, ${killed.cut} connections cut)`,
  ours: `${killed.failed.length} failed`,
  peer: '0 allowed',
  value: killed.failed.length,
  limit: 'none besides cut connections',
  ok: killed.failed.length === 0,
})
for (const failure of killed.failed.slice(0, 10)) console.error(failure)
await three[Symbol.asyncDispose]()
await one[Symbol.asyncDispose]()
report()

async function inOrder<T>(list: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of list) await act(item)
}

async function measure(
  side: Side,
  phase: keyof Costs,
  act: () => Promise<void>,
  units: number,
): Promise<void> {
  const spent = await side.spend(act)
  const { roostMs, databaseMs, redisMs, totalMs, seconds, wakes } = spent
  const cost = {
    roostMs: roostMs / units,
    databaseMs: databaseMs / units,
    redisMs: redisMs / units,
    totalMs: totalMs / units,
    wakes: wakes / units,
    seconds,
  }
  costs.get(side)?.[phase].push(cost)
  console.error(`${phase}, ${side.count} API processes: ${JSON.stringify(cost)}`)
}

function compare(row: string, phase: keyof Costs, name: keyof Spent, unit: string): void {
  const most = phase === 'idle' || name === 'wakes' ? null : limit
  recordRatio(row, shown(three, phase, name), shown(one, phase, name), unit, most)
}

function recordRatio(row: string, several: number, single: number, unit: string, most: number | null): void {
  record({
    row,
    ours: `${several.toFixed(0)} ${unit}`,
    peer: `${single.toFixed(0)} ${unit} with one`,
    value: several / single,
    limit: most === null ? 'no limit' : `at most ${most} ×`,
    ok: most === null || several <= most * single,
  })
}
