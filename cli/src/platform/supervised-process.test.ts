import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { leanHeap } from './lean-process.ts'
import { type SuperviseOptions, superviseProcess } from './supervised-process.ts'

const timing = { firstPauseMs: 10, maxPauseMs: 20, stableMs: 60_000, maxStartAttempts: 3 }
const ready = `process.send({ type: 'ready', url: 'u', docs_url: 'd', setup_completed: true, containers: '', notices: [] })`
const stay = `setInterval(() => {}, 1e6); process.on('disconnect', () => process.exit())`

test('progress messages reach the terminal before the process is ready', async (t) => {
  const messages: string[] = []
  const supervised = await supervise(
    t,
    `process.send({ type: 'progress', text: 'opening' }); ${ready}; ${stay}`,
    {
      onProgress: (text) => messages.push(text),
    },
  )
  assert.equal((await supervised.ready)?.url, 'u')
  assert.deepEqual(messages, ['opening'])
  await supervised.stop(5_000)
})

test('a process that dies is restarted, which one line reports with its log', async (t) => {
  const trouble = Promise.withResolvers<string>()
  const restarted = Promise.withResolvers<void>()
  let starts = 0
  const supervised = await supervise(t, `${ready}; console.log(process.pid); ${stay}`, {
    onTrouble: trouble.resolve,
    onLine: (pid) => {
      starts += 1
      if (starts === 1) process.kill(Number(pid), 'SIGKILL')
      else restarted.resolve()
    },
  })
  assert.match(await trouble.promise, /^api was terminated by SIGKILL; restarting in .*api\.log/)
  await restarted.promise
  await supervised.stop(5_000)
})

test('an invalid configuration is reported with its message and not retried', async (t) => {
  const supervised = await supervise(t, `console.error('ROOST_PORT must be a port'); process.exit(78)`)
  const failure = await supervised.failed
  assert.equal(failure.exitCode, 78)
  assert.match(failure.message, /ROOST_PORT must be a port/)
  await assert.rejects(supervised.ready)
})

test('a fatal reason before readiness ends the attempt', async (t) => {
  const reason = `process.send({ type: 'fatal', reason: 'port 8000 is taken' }, () => process.exit(1))`
  const supervised = await supervise(t, reason)
  assert.match((await supervised.failed).message, /port 8000 is taken/)
})

test('a process that never becomes ready fails after three attempts', async (t) => {
  let attempts = 1
  const supervised = await supervise(t, `throw new Error('broken')`, { onTrouble: () => (attempts += 1) })
  assert.match((await supervised.failed).message, /broken/)
  assert.equal(attempts, 3)
})

test('a stop sends SIGTERM, then SIGKILL', async (t) => {
  const supervised = await supervise(t, `process.on('SIGTERM', () => {}); ${ready}; ${stay}`)
  await supervised.ready
  await supervised.stop(50)
  assert.equal(await Promise.race([supervised.failed, 'not failed']), 'not failed')
})

test('a program without messages is ready at its ready line', async (t) => {
  const supervised = await supervise(t, `console.log('listening on 1'); ${stay}`, {}, /listening/)
  assert.equal(await supervised.ready, null)
  await supervised.stop(5_000)
})

async function supervise(
  t: TestContext,
  program: string,
  options: Partial<SuperviseOptions> = {},
  readyLine?: RegExp,
) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-kept-'))
  const file = join(folder, 'program.mjs')
  await writeFile(file, program)
  const supervised = superviseProcess(
    {
      name: 'api',
      file,
      env: process.env,
      cwd: folder,
      log: { path: join(folder, 'api.log'), write: () => {} },
      readyLine,
    },
    { onProgress: () => {}, onTrouble: () => {}, timing, ...options },
  )
  t.after(async () => {
    supervised.kill()
    await rm(folder, { recursive: true, force: true })
  })
  return supervised
}

test('the platform image starts its processes with the same limits of the heap', async () => {
  const entry = await readFile(new URL('../../../images/platform/entry.sh', import.meta.url), 'utf8')
  assert.ok(entry.includes(`exec node ${leanHeap.join(' ')} `))
})
