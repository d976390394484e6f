import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import { silentLog } from '../../ports/log.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { type FireRow, fireStore } from '../fires/index.ts'
import { type Simulation, startSimulation } from './test/simulation.ts'

/** Two days around each change to or from summer time in 2026. */
const changes = [
  ['Europe/Berlin', '2026-03-29', '2026-10-25'],
  ['America/New_York', '2026-03-08', '2026-11-01'],
  ['America/Santiago', '2026-09-06', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04', '2026-04-05'],
  ['Africa/Casablanca', '2026-03-22', '2026-02-15'],
] as const
const crons = [
  ...Array.from({ length: 11 }, (_, index) => `${index % 4},${(index % 4) + 30} * * * *`),
  '30 2 * * *',
  '*/20 0-4 * * *',
  '0 3 * * SUN',
]
/** Seconds without a scheduler: a moment, within the grace, at its end, just beyond it, and far beyond it. */
const outages = [5, 600, 3540, 3600, 3601, 4 * 3600]
const hour = 3_600_000
const times = createScheduleTimes()

let simulated = 0
for (const [zone, ...days] of changes) {
  for (const day of days) {
    test(`nothing fires twice and nothing is lost: ${zone} around ${day}`, async () => {
      await using db = await openTestDatabase()
      const start = new Date(Date.parse(`${day}T00:00:00Z`) - 24 * hour)
      const simulation = startSimulation(db, { zone, crons, start, seed: Date.parse(day) + zone.length })
      const allOutages = await run(simulation, start.getTime() + 48 * hour)
      for (const outage of allOutages) checkCatchUp(simulation, await rowsOf(simulation), outage)
      simulated += await checkAll(simulation, start)
    })
  }
}

test('more than 10,000 due times were simulated', () => assert.ok(simulated > 10_000, `${simulated}`))

/** `before` are the fires before the outage, whose times can come again after the clock was set back. */
type Outage = { from: number; to: number; before: ReadonlySet<string> }

async function run(simulation: Simulation, until: number): Promise<Outage[]> {
  const { clock, chance } = simulation
  const all: Outage[] = []
  const pauseFor = async (seconds: number) => {
    const from = clock.now().getTime()
    const before = new Set(simulation.made.keys())
    await clock.advance(seconds)
    all.push({ from, to: clock.now().getTime(), before })
    await simulation.begin()
  }
  await simulation.begin()
  while (clock.now().getTime() < until) {
    const next = Math.min(simulation.nextAt() ?? until, until)
    const advanceTo = (time: number) => clock.advance(Math.max(0, (time - clock.now().getTime()) / 1000))
    const seconds = outages[chance(outages.length)] ?? 0
    await advanceTo(next - 2000)
    await simulation.claimAhead()
    if (chance(12) === 0) {
      simulation.kill()
      await pauseFor(seconds)
      continue
    }
    await advanceTo(next - 300)
    await simulation.claimDue()
    await advanceTo(next)
    switch (chance(12)) {
      case 0:
        simulation.kill()
        await pauseFor(seconds)
        break
      case 1:
        await simulation.killBetweenClaimAndDelivery()
        await pauseFor(seconds)
        break
      case 2:
        await simulation.loseAnswers()
        break
      case 3:
        await simulation.secondLeader()
        break
      case 4:
        // Not before the creation of the schedules.
        if (clock.now().getTime() > until - 47 * hour) clock.set(new Date(clock.now().getTime() - 120_000))
        break
    }
    await simulation.fireDue()
  }
  return all
}

async function rowsOf({ db }: Simulation): Promise<Map<string, FireRow[]>> {
  const rows = await db
    .withTables<{ fires: FireRow }>()
    .selectFrom('fires')
    .selectAll()
    .orderBy('due_at')
    .execute()
  return Map.groupBy(rows, (row) => row.schedule_id)
}

/** Of the times missed within the grace, only the newest fires. */
function checkCatchUp(
  { schedules }: Simulation,
  rows: Map<string, FireRow[]>,
  { from, to, before }: Outage,
): void {
  for (const schedule of schedules) {
    const within = (rows.get(schedule.id) ?? []).filter(({ due_at, execution_id }) => {
      if (execution_id !== null && before.has(execution_id)) return false
      const due = Date.parse(due_at)
      return due > from && due <= to && due >= to - hour
    })
    if (within.length === 0) continue
    const fired = within.filter(({ outcome }) => outcome === 'fired')
    assert.deepEqual(fired, within.slice(-1), `${schedule.cron_expression} ${new Date(to).toISOString()}`)
  }
}

/** Every due time has one record or is counted by one, and none fires twice. */
async function checkAll(simulation: Simulation, start: Date): Promise<number> {
  const rows = await rowsOf(simulation)
  const now = simulation.clock.now()
  let count = 0
  for (const schedule of simulation.schedules) {
    const own = rows.get(schedule.id) ?? []
    const periods = own.flatMap(({ reason, due_at }) => {
      const since = / since (\S+)$/.exec(reason ?? '')?.[1]
      return since === undefined ? [] : [{ since, until: due_at }]
    })
    const recorded = new Map(own.map((row) => [row.due_at, row]))
    for (let due = times.next(schedule, start); due && due < now; due = times.next(schedule, due)) {
      const at = due.toISOString()
      const row = recorded.get(at)
      recorded.delete(at)
      count += 1
      const isCounted = periods.some(({ since, until }) => since <= at && at <= until)
      assert.ok(row?.outcome || isCounted, `${schedule.cron_expression}: no record of ${at}`)
      const made = simulation.made.get(`${schedule.id} ${at}`) ?? 0
      assert.equal(made, row?.outcome === 'fired' ? 1 : 0, `${schedule.cron_expression} ${at}: made ${made}`)
    }
    const beyond = [...recorded.keys()].filter((at) => at < now.toISOString())
    assert.deepEqual(beyond, [], 'a record of a time that was not due')
  }
  assert.deepEqual(await fireStore(simulation.db).open(), [])
  return count
}

test('a fire that the API refuses, or cannot receive within the grace, is recorded as missed', async () => {
  await using db = await openTestDatabase()
  const start = new Date('2026-01-05T08:30:00.000Z')
  const simulation = startSimulation(db, {
    zone: 'UTC',
    crons: ['0 9 * * *'],
    start,
    seed: 1,
    log: silentLog,
  })
  await simulation.begin()
  simulation.down()
  await simulation.clock.advance(1800)
  await simulation.claimDue()
  for (let minute = 0; minute < 70; minute += 1) await simulation.clock.advance(60)
  await simulation.delivered()
  const [row] = (await rowsOf(simulation)).get('s0') ?? []
  assert.deepEqual([row?.outcome, row?.reason], ['missed', 'outside_grace'])
})
