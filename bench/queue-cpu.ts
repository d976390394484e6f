/**
 * Cost of tasks on PostgreSQL: processor time of the API and the database, statements, transactions and writes, per
 * 1,000 tasks accepted over HTTP and per 1,000 runs drained. Less noisy than times on a shared machine. With a second
 * work tree, both are measured alternately: `node bench/queue-cpu.ts [rounds] [folder of the other tree]`.
 */
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { findPostgres, startPostgres } from '../cli/src/testing/services.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median } from './measure.ts'
import { play } from './queue/agents.ts'
import { faultsOf } from './queue/check.ts'
import { type Cost, costsOf } from './queue/costs.ts'
import { acceptAll } from './queue/posts.ts'
import type { openSide, Side } from './queue/side.ts'

await keepBenchmark()

const agents = 20
const slots = 3
const perAgent = 50
const runs = agents * perAgent
const rounds = Number(process.argv[2] ?? 5)
const trees = [resolve(import.meta.dirname, '..'), ...process.argv.slice(3).map((folder) => resolve(folder))]

await using stack = new AsyncDisposableStack()
const bin = await findPostgres()
if (!bin) throw new Error('PostgreSQL is not installed on this machine.')
const server = await startPostgres(bin, tmpdir(), { isDurable: true })
stack.defer(() => server.stop())
await admin(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
await server.restart('fast')
await admin('create extension pg_stat_statements')

const sides: { tree: string; database: string; side: Side }[] = []
for (const [index, tree] of trees.entries()) {
  const database = `roost_${index + 1}`
  await admin(`create database ${database}`)
  const at = pathToFileURL(`${tree}/bench/queue/side.ts`).href
  // The same file in the other tree.
  const { openSide: open } = (await import(at)) as { openSide: typeof openSide }
  const databaseUrl = server.url.replace(/postgres$/, database)
  sides.push({ tree, database, side: stack.use(await open({ databaseUrl, agents, slots })) })
}
const figures = new Map<string, Cost[]>()
const faults: string[] = []
for (let round = -1; round < rounds; round += 1) {
  const turns = round % 2 === 0 ? sides : sides.toReversed()
  for (const turn of turns) await measure(turn, 'accept', () => acceptAll(turn.side, perAgent), round)
  for (const turn of turns) await measure(turn, 'drain', () => drain(turn.side), round)
}
for (const [key, costs] of figures) {
  const names = Object.keys(costs[0] ?? {}) as (keyof Cost)[]
  const shown = names.map((name) => `${name} ${median(costs.map((cost) => cost[name])).toFixed(0)}`)
  console.log(`${key}: ${shown.join(', ')}`)
}
console.log(faults.length === 0 ? 'order and cap correct' : [...new Set(faults)].join('; '))
await stack.disposeAsync()
process.exit(faults.length === 0 ? 0 : 1)

/** The first round opens connections and compiles code; it is not measured. */
async function measure(
  { tree, database, side }: (typeof sides)[number],
  what: string,
  act: () => Promise<unknown>,
  round: number,
): Promise<void> {
  const read = () => costsOf({ apiPid: side.apiPid(), database, statements: () => statementsOf(database) })
  const before = await read()
  const startedAt = performance.now()
  await act()
  const ms = performance.now() - startedAt
  const after = await read()
  if (round < 0) return
  const names = Object.keys(after) as (keyof Cost)[]
  const spent = Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as Cost
  const key = `${what} ${tree}`
  figures.set(key, [...(figures.get(key) ?? []), spent])
  console.error(`round ${round + 1}: ${key}: ${JSON.stringify(spent)} in ${ms.toFixed(0)} ms`)
}

async function drain(side: Side): Promise<void> {
  const observed = await play({ linkUrl: side.linkUrl, agents: side.agents, slots, runs, workMs: () => 0 })
  faults.push(...(await faultsOf(side, observed, slots, side.begun)))
}

async function admin(text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

async function statementsOf(database: string): Promise<{ statements: number; transactions: number }> {
  const { rows } = await admin(`
    select sum(calls)::int as statements, coalesce(sum(calls) filter (where query ilike 'commit'), 0)::int as transactions
    from pg_stat_statements join pg_database on pg_database.oid = dbid where datname = '${database}'`)
  return { statements: rows[0].statements ?? 0, transactions: rows[0].transactions }
}
