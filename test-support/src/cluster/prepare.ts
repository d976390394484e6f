/**
 * Builds the programs of a cluster, unless they exist: `node test-support/src/cluster/prepare.ts`. With `--check` it
 * only checks the machine. Ends with code 69 and a sentence where no cluster can run.
 */
import { mkdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { buildPrograms, findPrograms } from './build.ts'
import { cacheFolder } from './paths.ts'
import { missingRequirement, readMachineFacts } from './requirements.ts'

/** EX_UNAVAILABLE of sysexits.h; `roost test --cluster` then skips the tests. */
const exitUnavailable = 69

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort()).once('SIGINT', () => stop.abort())

const cache = cacheFolder(process.env)
const programs = await findPrograms(process.env)
const missing = missingRequirement(await readMachineFacts(cache, programs !== null))
if (missing) fail(missing, exitUnavailable)
if (!values.check && !programs) {
  await mkdir(cache, { recursive: true, mode: 0o700 })
  const onProgress = (text: string) => report({ type: 'progress', text })
  await buildPrograms({ env: process.env, onProgress, signal: stop.signal }).catch((error: unknown) =>
    fail(error instanceof Error ? error.message : String(error), stop.signal.aborted ? 130 : 1),
  )
}
// The channel to the parent would keep this process.
process.exit(0)

function fail(reason: string, code: number): never {
  report({ type: 'fatal', reason })
  if (process.send) console.error(reason)
  process.exit(code)
}

type Message = { type: 'progress'; text: string } | { type: 'fatal'; reason: string }

/** Messages of the platform's programs, which the command line shows. */
function report(message: Message): void {
  if (process.send) process.send(message, () => {})
  else console.log(message.type === 'progress' ? message.text : message.reason)
}
