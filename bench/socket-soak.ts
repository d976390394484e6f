/**
 * Soak test of the live sockets: `node bench/socket-soak.ts [users] [events] [seed]`. Exit code 1 if an event reached
 * a user without access to its agents, or if an expected event did not arrive.
 */
import { soak } from '../server/src/operations/sockets/test/soak.ts'
import { keepBenchmark } from './keeper/index.ts'

await keepBenchmark()

const [users = 200, events = 20_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number)
console.log(`${users} users, ${events} events, seed ${seed}`)
const from = performance.now()
const { due } = await soak({ users, agents: 40, events }, seed)
const seconds = Math.round((performance.now() - from) / 1000)
console.log(`${due} expected deliveries arrived, 0 leaks, 0 duplicates, in ${seconds} s`)
process.exit(0)
