import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { startDaemon } from './processes.ts'
import { endProcesses } from './record.ts'

test('the kernel ends a daemon when the process that started it is killed', async (t) => {
  const folder = await temporaryFolder(t)
  const module = JSON.stringify(join(import.meta.dirname, 'processes.ts'))
  const source = `import { startDaemon } from ${module}
const daemon = await startDaemon('sleep', ['600'], { log: ${JSON.stringify(join(folder, 'log'))}, env: process.env })
console.log(daemon.pid)
setInterval(() => {}, 60_000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(parent.stdout), 'line')
  const pid = Number(line)
  assert.equal(await isRunning(pid), true)
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  // The kernel has sent the signal already; the limit of the test ends a wait in vain.
  while (await isRunning(pid)) await setImmediate()
})

test('ending recorded processes leaves another process with the same id alone', async (t) => {
  const folder = await temporaryFolder(t)
  const daemon = await startDaemon('sleep', ['600'], { log: join(folder, 'log'), env: process.env })
  t.after(() => daemon.kill())
  await endProcesses([{ pid: daemon.pid, start: 'another' }])
  assert.equal(daemon.hasEnded(), false)
})

test('a daemon writes both streams to its log', async (t) => {
  const log = join(await temporaryFolder(t), 'log')
  const daemon = await startDaemon('sh', ['-c', 'echo out; echo error >&2'], { log, env: process.env })
  daemon.child.ref()
  await daemon.ended
  assert.equal(await readFile(log, 'utf8'), 'out\nerror\n')
})

/** False for a process that has ended and waits for its parent. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat !== null && !stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-daemon-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
