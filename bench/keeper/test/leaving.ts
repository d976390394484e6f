/** A benchmark that leaves every kind of resource behind, then does what its argument says. */
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../cli/src/machine/run.ts'
import { installsVariable } from '../../../cli/src/testing/session.ts'
import { keepBenchmark } from '../index.ts'

await keepBenchmark()
const [how, image] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'left-'))
const sleep = (env?: NodeJS.ProcessEnv) => {
  const child = spawn('sleep', ['1000'], {
    cwd: folder,
    detached: true,
    stdio: 'ignore',
    ...(env ? { env } : {}),
  })
  // Like a benchmark whose platform has ended.
  child.once('exit', () => {
    throw new Error('a process of the benchmark has ended')
  })
  return child.pid
}
// One process in a separate group, and one without the environment variable.
const pids = [process.pid, sleep(), sleep({ PATH: process.env.PATH })]
if (image) {
  const label = `roost.install=${process.env[installsVariable]}test`
  const docker = async (...args: string[]) => {
    const { code, lastLines } = await run('docker', args)
    if (code !== 0) throw new Error(lastLines.join('\n'))
  }
  const name = `roost-keeper-test-${process.pid}`
  await docker('volume', 'create', '--label', label, name)
  await docker('create', '--label', label, '-v', `${name}:/data`, image, '/none')
}
console.log(JSON.stringify({ folder, pids, install: process.env[installsVariable] }))
if (how === 'crash') throw new Error('as requested')
if (how === 'end') process.exit(7)
setInterval(() => {}, 1000)
