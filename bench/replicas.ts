/**
 * Several API processes compared with one, both behind nginx with PostgreSQL and Redis: processor time of all processes
 * of Roost per 1,000 runs, and requests that fail when one API process of three is killed.
 * `node bench/replicas.ts [rounds]`
 */
import { keepBenchmark } from './keeper/index.ts'
import { median, record, report } from './measure.ts'
import { requestsThroughKill } from './replicas/kill.ts'
import { openReplicas, type Spent } from './replicas/side.ts'

await keepBenchmark()

const rounds = Number(process.argv[2] ?? 5)
const runs = 2000
const limit = 1.1

await using one = await openReplicas(1)
await using three = await openReplicas(3)
const [ofOne, ofThree]: [Spent[], Spent[]] = [[], []]
for (let round = -1; round < rounds; round += 1) {
  const sides = [
    { side: one, spent: ofOne },
    { side: three, spent: ofThree },
  ]
  for (const { side, spent } of round % 2 === 0 ? sides : sides.toReversed()) {
    const cost = await side.spend(runs)
    console.error(`round ${round + 1}: ${side.count} API processes: ${JSON.stringify(cost)}`)
    // The first round opens connections and compiles code.
    if (round >= 0) spent.push(cost)
  }
}
const shown = (spent: Spent[], name: keyof Spent) => median(spent.map((each) => each[name]))
for (const name of ['roostMs', 'totalMs'] as const) {
  const [single, several] = [shown(ofOne, name), shown(ofThree, name)]
  record({
    row:
      name === 'roostMs'
        ? 'processor time of Roost per 1,000 runs, three API processes'
        : 'the same with PostgreSQL and Redis',
    ours: `${several.toFixed(0)} ms`,
    peer: `${single.toFixed(0)} ms with one`,
    value: several / single,
    limit: `at most ${limit} ×`,
    ok: several <= limit * single,
  })
}
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
