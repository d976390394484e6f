/**
 * Breaks a platform under load at random moments and looks, from outside, whether anything was lost, done twice,
 * left hanging or left unexplained. One command, a seed, a report; exit code 1 when something was.
 */
import { runChaos } from './chaos.ts'
import { runApart } from './engine.ts'
import { readOptions, usage } from './options.ts'
import { isClean, writeReport } from './report.ts'

if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit(0)
}
const options = readOptions(process.argv.slice(2), Math.random)
const code = options.scenario === 'engine' ? await runApart() : null
if (code !== null) process.exit(code)

const started = performance.now()
const progress = (text: string) =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`)
// What was seen so far is judged and reported, and everything that was started is taken away again.
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
const findings = await runChaos(options, {
  tag: String(process.pid),
  progress,
  enough: interrupted.signal,
})
const { text, path } = await writeReport(findings)
console.log(`\n${text}\nWritten to ${path}`)
process.exit(isClean(findings) ? 0 : 1)
