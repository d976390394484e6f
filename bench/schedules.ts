/**
 * 10,000 schedules, of which 1,000 are due in one minute: time from due time to run record, compared with pg-boss on
 * the same PostgreSQL server in the following minute. Also the cost of an idle scheduler. `node bench/schedules.ts`
 */
import { fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { findPostgres, startPostgres } from '../cli/src/testing/services.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median, ms, quantile, record, report } from './measure.ts'
import type { BossAsk } from './peers/pg-boss.ts'
import { type Load, openSide } from './schedules/side.ts'

await keepBenchmark()

const size = { total: 10_000, due: 1_000, agents: 50 }
const idleSeconds = 30
/** Time for the scheduler to load the schedules, and for due runs to finish. */
const aheadSeconds = 40

await using stack = new AsyncDisposableStack()
const bin = await findPostgres()
if (!bin) throw new Error('PostgreSQL is not installed on this machine.')
const server = await startPostgres(bin, tmpdir(), { isDurable: true })
stack.defer(() => server.stop())

const peerDelays = await bossDelays(await makeDatabase('peer'))
console.log(`pg-boss: ${peerDelays.length} of ${size.due} created within two minutes`)
for (const [name, url] of [
  ['SQLite', null],
  ['PostgreSQL', await makeDatabase('roost')],
] as const) {
  await using side = await openSide(url)
  const load: Load = { ...size, minute: minuteAhead() }
  await side.add(load)
  const idle = await idleOf(side.schedulerPid())
  await until(load.minute, 20)
  const { delays, faults } = await side.burst(load)
  recordDelay(`due to record, p50 (${name})`, median(delays), median(peerDelays), 100)
  recordDelay(`due to record, p99 (${name})`, quantile(delays, 0.99), quantile(peerDelays, 0.99), 1000)
  const of = { peer: 'none', limit: 'none' }
  record({ row: `lost or twice (${name})`, ours: `${faults}`, value: faults, ok: faults === 0, ...of })
  const [cpu, megabytes] = [`${idle.cpuPercent.toFixed(2)} %`, `${idle.megabytes.toFixed(0)} MB`]
  record({
    row: `idle CPU (${name})`,
    ours: cpu,
    peer: 'of one core',
    value: idle.cpuPercent,
    limit: 'below 1 %',
    ok: idle.cpuPercent < 1,
  })
  record({
    row: `idle memory (${name})`,
    ours: megabytes,
    peer: 'resident',
    value: idle.megabytes,
    limit: 'at most 120 MB',
    ok: idle.megabytes <= 120,
  })
}
console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`)
report()

function recordDelay(row: string, ours: number, peer: number, limitMs: number): void {
  const limit = `at most ${limitMs} ms`
  record({ row, ours: ms(ours), peer: ms(peer), value: ours / peer, limit, ok: ours <= limitMs })
}

/** The minute of the measurement. */
function minuteAhead(): Date {
  return new Date(Math.ceil((Date.now() + (aheadSeconds + idleSeconds) * 1000) / 60_000) * 60_000)
}

function until(minute: Date, secondsAfter: number): Promise<void> {
  return pause(Math.max(0, minute.getTime() + secondsAfter * 1000 - Date.now()))
}

async function idleOf(pid: number): Promise<{ cpuPercent: number; megabytes: number }> {
  // The initial load of the schedules is over.
  await pause(5_000)
  const before = await ticksOf(pid)
  await pause(idleSeconds * 1000)
  const ticks = (await ticksOf(pid)) - before
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const megabytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024
  // The kernel counts in ticks of 10 ms.
  return { cpuPercent: ticks / idleSeconds, megabytes }
}

async function ticksOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}

async function bossDelays(url: string): Promise<number[]> {
  const child = fork(new URL('./peers/pg-boss.ts', import.meta.url), [url], { stdio: 'inherit' })
  const next = () => new Promise((done) => child.once('message', done))
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  try {
    await next()
    const minute = minuteAhead()
    const cron = `${minute.getUTCMinutes()} ${minute.getUTCHours()} * * *`
    const ask: BossAsk = { cron, due: size.due, total: size.total }
    child.send(ask)
    await next()
    if (Date.now() > minute.getTime()) throw new Error('The peer took too long to store its schedules.')
    await until(minute, 120)
    const { rows } = await pool.query("select created_on from pgboss.job where name = 'turn'")
    return rows.map((row: { created_on: Date }) => row.created_on.getTime() - minute.getTime())
  } finally {
    child.kill()
    await pool.end()
  }
}

async function makeDatabase(name: string): Promise<string> {
  const pool = new pg.Pool({ connectionString: server.url, max: 1 })
  await pool.query(`create database ${name}`)
  await pool.end()
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}
