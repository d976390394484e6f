/** The scheduler's peer: pg-boss with schedules of its own on the database `argv[2]`, in a process of its own. */
import PgBoss from 'pg-boss'

export type BossAsk = { cron: string; due: number; total: number }

const [, , url = ''] = process.argv
// As quick as it lets itself be set: it looks at all schedules, and at what is due, each second.
const boss = new PgBoss({
  connectionString: url,
  cronMonitorIntervalSeconds: 1,
  cronWorkerIntervalSeconds: 1,
})
await boss.start()
await boss.createQueue('turn')
process.on('message', async ({ cron, due, total }: BossAsk) => {
  for (let number = 0; number < total; number += 1) {
    await boss.schedule('turn', number < due ? cron : '0 3 1 1 *', { number }, { key: String(number) })
  }
  process.send?.('scheduled')
})
process.send?.('ready')
