/** Roost's side of the socket row: the sockets of one process on a database, with users who each see some events. */
import { migrations } from '../../server/src/migrations/index.ts'
import { eventAbout, startProcess } from '../../server/src/operations/sockets/test/world.ts'
import { migrate } from '../../server/src/ports/database/migrator.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import { silentLog } from '../../server/src/ports/log.ts'

/** `usage` requests the processor time since the events were requested. */
export type Command = { events: number; fields: Record<string, unknown> } | 'usage'
export type Told = { urls: string[] } | { cpuMs: number }

const people = 1000
const agentCount = 10

const [folder = ''] = process.argv.slice(2)
const db = await openDatabase(`sqlite:${folder}/sockets.db`, silentLog)
await migrate(db, migrations, { now: () => new Date() })
const it = await startProcess(db)
const owner = await it.person('creator')
const agents = await Promise.all(Array.from({ length: agentCount }, () => it.addAgent(owner)))
const urls: string[] = []
for (let index = 0; index < people; index += 1) {
  const person = await it.person()
  for (const [number, agent] of agents.entries()) {
    if ((index + number) % 2 === 0) await it.share(agent, person.user.email)
  }
  urls.push(`${it.url}/ws?ticket=${await it.tickets.mint(person)}`)
}
const tell = (told: Told) => process.send?.(told)

let before = process.cpuUsage()
/** Emits twice the requested events, because each user sees every second one. */
process.on('message', async (command: Command) => {
  if (command === 'usage') {
    const { user, system } = process.cpuUsage(before)
    tell({ cpuMs: (user + system) / 1000 })
    return
  }
  const { events, fields } = command
  before = process.cpuUsage()
  await db.atomically(async (tx) => {
    for (let n = 0; n < events * 2; n += 1) {
      const agent = agents[n % agentCount]
      if (agent) await it.outbox.append(tx, eventAbout([agent], { n, ...fields }), it.clock.now())
    }
  })
})
tell({ urls })
