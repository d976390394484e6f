/**
 * The live sockets at full size: `node bench/socket-soak.ts [users] [events] [seed]`. Ends with 1 when an event
 * reached somebody who could not reach its agents at the time, or when one that was due did not come.
 */
import { soak } from '../server/src/operations/sockets/test/soak.ts'
import { keepBenchmark } from './keeper/index.ts'

await keepBenchmark()

const [users = 200, events = 20_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number)
console.log(`${users} users, ${events} events, seed ${seed}`)
const from = performance.now()
const { due } = await soak({ users, agents: 40, events }, seed)
const seconds = Math.round((performance.now() - from) / 1000)
console.log(`${due} deliveries were due and came, 0 leaked, none twice, in ${seconds} s`)
process.exit(0)
