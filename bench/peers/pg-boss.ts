/** Peer of the scheduler: pg-boss with its own schedules on the database `argv[2]`, in a separate process. */
import pg from 'pg'
import PgBoss from 'pg-boss'

export type BossAsk = { cron: string; due: number; total: number }

const [, , connectionString = ''] = process.argv
const quiet = new PgBoss({ connectionString, schedule: false })
await quiet.start()
await quiet.createQueue('turn')
process.on('message', async ({ cron, due, total }: BossAsk) => {
  // Creates one schedule through its API and copies the row, because single calls take minutes.
  await quiet.schedule('turn', cron, { number: 0 }, { key: '0' })
  const pool = new pg.Pool({ connectionString, max: 1 })
  await pool.query(
    `insert into pgboss.schedule (name, key, cron, timezone, data, options)
     select name, n::text, case when n < $1 then cron else '0 3 1 1 *' end, timezone, data, options
     from pgboss.schedule, generate_series(1, $2) as n`,
    [due, total - 1],
  )
  await pool.end()
  await quiet.stop()
  // The fastest settings: it checks all schedules and due jobs every second.
  const boss = new PgBoss({ connectionString, cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 })
  await boss.start()
  process.send?.('scheduled')
})
process.send?.('ready')
