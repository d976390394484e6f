/**
 * Compares the queue with graphile-worker on the same durable PostgreSQL: 1,000 asynchronous tasks for 20 agents with
 * 3 slots each; `node bench/queue.ts [rounds]`. Measures accepting, claiming and draining; `bench/README.md` has the
 * details. Every round checks order and cap, and all sides finish one part before the next part starts.
 */
import { loadavg, tmpdir } from 'node:os'
import pg from 'pg'
import { findPostgres, startPostgres } from '../cli/src/testing/services.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median, ms, quantile, record, report } from './measure.ts'
import { type Play, play } from './queue/agents.ts'
import { faultsOf, numberOf } from './queue/check.ts'
import { startPeer } from './queue/peer.ts'
import { acceptAll, acceptPaced } from './queue/posts.ts'
import { openSide, type Side } from './queue/side.ts'

await keepBenchmark()

const agents = 20
const slots = 3
const perAgent = 50
const runs = agents * perAgent
const rounds = Number(process.argv[2] ?? 3)
/** Duration of each task by its position: one to three seconds, the same for all sides. */
const workMs = Array.from({ length: runs }, (_, place) => 1000 + ((place * 7919) % 2001))

await using stack = new AsyncDisposableStack()
const bin = await findPostgres()
if (!bin) throw new Error('PostgreSQL is not installed on this machine.')
const server = await startPostgres(bin, tmpdir(), { isDurable: true })
stack.defer(() => server.stop())
const peer = stack.use(await startPeer(await makeDatabase('peer')))
const ours: { name: string; side: Side }[] = [
  {
    name: 'PostgreSQL',
    side: stack.use(await openSide({ databaseUrl: await makeDatabase('roost'), agents, slots })),
  },
  { name: 'SQLite', side: stack.use(await openSide({ agents, slots })) },
]
const jobs = Array.from({ length: runs }, (_, place) => ({
  queue: `queue-${place % agents}`,
  message: 'task',
  number: place,
}))
const figures = new Map<string, number[]>()
const faults: string[] = []
const load: number[] = []

// A warm-up: it opens connections, compiles code and fills tables before the first round.
for (const { side } of ours) {
  await acceptAll(side, perAgent)
  await playOn(side, () => 0)
}
await peer.ask({ do: 'add', jobs })
await peer.ask({ do: 'work', concurrency: agents, workMs: [], jobs: runs })

for (let round = 0; round < rounds; round += 1) {
  await inTurns(round, 'accepted', {
    ours: (side) => acceptAll(side, perAgent),
    peer: async () => {
      const { seconds } = await peer.ask({ do: 'add', jobs: jobs.map((job) => ({ ...job, queue: null })) })
      await peer.ask({ do: 'work', concurrency: agents * slots, workMs: [], jobs: runs })
      await peer.ask({ do: 'add', jobs })
      return runs / seconds
    },
  })
  await inTurns(round, 'drained', {
    ours: async (side) => runs / (await playOn(side, () => 0)).seconds,
    peer: async () => {
      const { seconds } = await peer.ask({ do: 'work', concurrency: agents, workMs: [], jobs: runs })
      await peer.ask({ do: 'add', jobs: jobs.map((job) => ({ ...job, queue: null })) })
      return runs / seconds
    },
  })
  await inTurns(round, 'paced', { ours: async (side) => quantile(await acceptPaced(side, runs, 200), 0.99) })
  await inTurns(round, 'waited', {
    ours: async (side, name) => {
      const observed = await playOn(side, (agent, message) => workMs[placeOf(side, agent, message)] ?? 0)
      keep(`delay ${name}`, quantile(observed.waitsFromEnd, 0.95))
      return quantile(observed.waits, 0.95)
    },
    peer: async () => {
      const all = await peer.ask({ do: 'work', concurrency: agents * slots, workMs, jobs: runs })
      return quantile(all.waits, 0.95)
    },
  })
}

for (const { name } of ours) {
  const of = (what: string) => ({
    ours: median(figures.get(`${what} ${name}`) ?? []),
    peer: median(figures.get(`${what} peer`) ?? []),
  })
  const isLimited = name === 'PostgreSQL'
  const row = (what: string, value: number, texts: { ours: string; peer: string }, limit: Limit) =>
    record({
      row: `${what}, ${name}`,
      ...texts,
      value,
      limit: isLimited ? limit.words : 'reported',
      ok: !isLimited || limit.holds(value),
    })
  const ratio = (what: string, figure: string, show: (value: number) => string, limit: Limit) => {
    const { ours, peer } = of(figure)
    row(what, ours / peer, { ours: show(ours), peer: show(peer) }, limit)
  }
  const perSecond = (value: number) => `${value.toFixed(0)}/s`
  ratio('tasks accepted over HTTP by 20 callers', 'accepted', perSecond, {
    words: 'at least 0.8 × addJob in process',
    holds: (value) => value >= 0.8,
  })
  const p99 = of('paced').ours
  row(
    'p99 of accepting at 200/s',
    p99,
    { ours: ms(p99), peer: '-' },
    { words: 'under 25 ms', holds: (v) => v < 25 },
  )
  ratio('slot free to handed out, p95', 'waited', ms, {
    words: 'at most 1.5 × graphile-worker',
    holds: (value) => value <= 1.5,
  })
  const delay = median(figures.get(`delay ${name}`) ?? [])
  record({
    row: `end of the work to the next run, the result stored between them, p95, ${name}`,
    ours: ms(delay),
    peer: '-',
    value: delay,
    limit: 'reported',
    ok: true,
  })
  ratio('drained, order and cap correct', 'drained', perSecond, {
    words: 'at least 0.5 × one named queue for each agent',
    holds: (value) => value >= 0.5,
  })
}
record({
  row: 'order and cap, by agents and by rows',
  ours: faults.length === 0 ? 'correct' : [...new Set(faults)].join('; '),
  peer: '-',
  value: faults.length,
  limit: 'no fault',
  ok: faults.length === 0,
})
console.log(`load of the machine: ${Math.min(...load).toFixed(1)} to ${Math.max(...load).toFixed(1)}`)
await stack.disposeAsync()
report()

type Limit = { words: string; holds(value: number): boolean }

/** Runs one part of a round on each participating side, in changing order. */
async function inTurns(
  round: number,
  figure: string,
  parts: { ours(side: Side, name: string): Promise<number>; peer?(): Promise<number> },
): Promise<void> {
  const turns = ours.map(({ name, side }) => ({ name, act: () => parts.ours(side, name) }))
  const { peer: ofPeer } = parts
  if (ofPeer) turns.splice(1, 0, { name: 'peer', act: ofPeer })
  for (const { name, act } of round % 2 === 0 ? turns : turns.toReversed()) {
    const value = await act()
    keep(`${figure} ${name}`, value)
    load.push(loadavg()[0] ?? 0)
    console.error(`round ${round + 1}: ${figure}, ${name}: ${value.toFixed(1)} (load ${load.at(-1)})`)
  }
}

function keep(key: string, value: number): void {
  figures.set(key, [...(figures.get(key) ?? []), value])
}

/** Posts tasks to the agents in rotation. */
function placeOf(side: Side, agent: string, message: string): number {
  return side.agents.findIndex(({ name }) => name === agent) + (numberOf(message) - 1) * agents
}

async function playOn(side: Side, work: Play['workMs']) {
  const observed = await play({ linkUrl: side.linkUrl, agents: side.agents, slots, runs, workMs: work })
  faults.push(...(await faultsOf(side, observed, slots, side.begun)))
  return observed
}

async function makeDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return server.url.replace(/postgres$/, name)
}
