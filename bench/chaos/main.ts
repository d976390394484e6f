/**
 * Breaks a platform under load at random times and checks from outside for lost, duplicated, stuck or unexplained runs.
 * Takes a seed and writes a report. Exit code 1 for any violation, 130 if it was interrupted before it had a result.
 */

import { keepBenchmark } from '../keeper/index.ts'
import { listenForInterruption } from './abortable.ts'
import { runChaos } from './chaos.ts'
import { apart, buildImages } from './engine.ts'
import { type ChaosOptions, readOptions, usage } from './options.ts'
import { isClean, writeReport } from './report.ts'

if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit(0)
}
const options = readOptions(process.argv.slice(2), Math.random)
await keepBenchmark({
  isOrderly: true,
  ...(options.scenario === 'engine' ? { through: apart, prepare: buildImages } : {}),
})
process.exit(await run(options))

async function run(options: ChaosOptions): Promise<number> {
  const interruption = listenForInterruption()
  const started = performance.now()
  const progress = (text: string) =>
    console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`)
  try {
    const findings = await runChaos(options, { tag: String(process.pid), progress, ...interruption })
    const { text, path } = await writeReport(findings)
    console.log(`\n${text}\nWritten to ${path}`)
    return isClean(findings) && interruption.faults.length === 0 ? 0 : 1
  } catch (error) {
    if (interruption.enough.aborted && interruption.faults.length === 0) {
      console.log('Interrupted.')
      return 130
    }
    // Rethrowing would reach the listener for uncaught errors, which keeps the process alive.
    console.error(error)
    return 1
  } finally {
    for (const fault of interruption.faults) console.error(fault)
  }
}
