import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { acquireUpLock, readRunning } from './lock.ts'

const listener = { host: '127.0.0.1', port: 8000 }

test('a second start gets the process id of the first, and its address once that is known', async (t) => {
  const folder = await dataFolder(t)
  const first = await acquireUpLock(folder, listener)
  assert.ok('release' in first)
  const early = await acquireUpLock(folder, listener)
  assert.ok('heldBy' in early)
  assert.deepEqual([early.heldBy?.pid, early.heldBy?.url], [process.pid, null])
  await first.ready('http://here')
  const late = await acquireUpLock(folder, listener)
  assert.ok('heldBy' in late)
  assert.equal(late.heldBy?.url, 'http://here')
  await first.release()
  const next = await acquireUpLock(folder, listener)
  assert.ok('release' in next)
  await next.release()
})

test('one of twenty concurrent starts gets the lock', async (t) => {
  const folder = await dataFolder(t)
  const results = await Promise.all(Array.from({ length: 20 }, () => acquireUpLock(folder, listener)))
  const winners = results.flatMap((result) => ('release' in result ? [result] : []))
  assert.equal(winners.length, 1)
  await winners[0]?.release()
})

test('another path to the same data folder meets the same lock', async (t) => {
  const folder = await dataFolder(t)
  const first = await acquireUpLock(folder, listener)
  assert.ok('release' in first)
  assert.ok('heldBy' in (await acquireUpLock(join(folder, '..', folder.split('/').at(-1) ?? ''), listener)))
  await first.release()
})

test('a killed process holds no lock, and its file is ignored', async (t) => {
  const folder = await dataFolder(t)
  const script = `
    import { acquireUpLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)}
    await acquireUpLock(${JSON.stringify(folder)}, { host: '127.0.0.1', port: 1 })
    console.log('held')
    setInterval(() => {}, 1e6)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  assert.equal((await readRunning(folder))?.pid, holder.pid)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  assert.equal(await readRunning(folder), null)
  const next = await acquireUpLock(folder, listener)
  assert.ok('release' in next)
  await next.release()
})

async function dataFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-lock-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
