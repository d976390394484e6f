import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type KeepOptions, keepProcess } from './kept-process.ts'

const timing = { firstPauseMs: 10, longestPauseMs: 20, steadyMs: 60_000, readyTries: 3 }
const ready = `process.send({ type: 'ready', url: 'u', docs_url: 'd', setup_completed: true, containers: '', notices: [] })`
const stay = `setInterval(() => {}, 1e6); process.on('disconnect', () => process.exit())`

test('words on the way reach the terminal, then it is ready', async (t) => {
  const said: string[] = []
  const kept = await keep(t, `process.send({ type: 'progress', text: 'opening' }); ${ready}; ${stay}`, {
    onProgress: (text) => said.push(text),
  })
  assert.equal((await kept.ready)?.url, 'u')
  assert.deepEqual(said, ['opening'])
  await kept.stop(5_000)
})

test('one that dies is started again, and that is said in one line with its log', async (t) => {
  const trouble = Promise.withResolvers<string>()
  const again = Promise.withResolvers<void>()
  let starts = 0
  const kept = await keep(t, `${ready}; console.log(process.pid); ${stay}`, {
    onTrouble: trouble.resolve,
    onLine: (pid) => {
      starts += 1
      if (starts === 1) process.kill(Number(pid), 'SIGKILL')
      else again.resolve()
    },
  })
  assert.match(await trouble.promise, /^api was ended by SIGKILL; starting it again in .*api\.log/)
  await again.promise
  await kept.stop(5_000)
})

test('a wrong configuration is told with its words and not tried again', async (t) => {
  const kept = await keep(t, `console.error('ROOST_PORT must be a port'); process.exit(78)`)
  const failure = await kept.failed
  assert.equal(failure.exitCode, 78)
  assert.match(failure.message, /ROOST_PORT must be a port/)
  await assert.rejects(kept.ready)
})

test('a reason given before it was ready ends the attempt', async (t) => {
  const reason = `process.send({ type: 'fatal', reason: 'port 8000 is taken' }, () => process.exit(1))`
  const kept = await keep(t, reason)
  assert.match((await kept.failed).message, /port 8000 is taken/)
})

test('one that never gets ready is given up after three tries', async (t) => {
  let tries = 1
  const kept = await keep(t, `throw new Error('broken')`, { onTrouble: () => (tries += 1) })
  assert.match((await kept.failed).message, /broken/)
  assert.equal(tries, 3)
})

test('a stop is asked for politely, then enforced', async (t) => {
  const kept = await keep(t, `process.on('SIGTERM', () => {}); ${ready}; ${stay}`)
  await kept.ready
  await kept.stop(50)
  assert.equal(await Promise.race([kept.failed, 'not failed']), 'not failed')
})

test('a program without messages is ready at its line', async (t) => {
  const kept = await keep(t, `console.log('listening on 1'); ${stay}`, {}, /listening/)
  assert.equal(await kept.ready, null)
  await kept.stop(5_000)
})

async function keep(t: TestContext, program: string, more: Partial<KeepOptions> = {}, readyLine?: RegExp) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-kept-'))
  const file = join(folder, 'program.mjs')
  await writeFile(file, program)
  const kept = keepProcess(
    {
      name: 'api',
      file,
      env: process.env,
      cwd: folder,
      log: { path: join(folder, 'api.log'), write: () => {} },
      readyLine,
    },
    { onProgress: () => {}, onTrouble: () => {}, timing, ...more },
  )
  t.after(async () => {
    kept.kill()
    await rm(folder, { recursive: true, force: true })
  })
  return kept
}
