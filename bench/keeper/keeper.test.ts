import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { run } from '../../cli/src/machine/run.ts'

const program = join(import.meta.dirname, 'test/leaving.ts')
const hasEngine = process.env.ROOST_TEST_CONTAINERS_URL?.startsWith('docker:') === true
/** An empty image, for a container that is never started. */
const image = `roost-keeper-test:${process.pid}`

type Left = { folder: string; pids: number[]; install: string }

before(async () => {
  if (!hasEngine) return
  const { code, lastLines } = await run('sh', ['-c', `tar -cf - -T /dev/null | docker import - ${image}`])
  assert.equal(code, 0, lastLines.join('\n'))
})
after(async () => {
  if (hasEngine) await run('docker', ['rmi', '-f', image])
})

async function start(
  how: string,
): Promise<{ keeper: ChildProcess; left: Left; exit: Promise<number | null> }> {
  const args = [program, how, ...(hasEngine ? [image] : [])]
  const keeper = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = once(keeper, 'exit').then(([code]) => code as number | null)
  let output = ''
  const line = Promise.withResolvers<string>()
  keeper.stdout?.on('data', (piece) => {
    output += piece
    if (output.includes('\n')) line.resolve(output)
  })
  return { keeper, left: JSON.parse(await line.promise), exit }
}

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function onEngine({ install }: Left): Promise<string[]> {
  const filter = ['--filter', 'label=roost.install', '--format', '{{.Label "roost.install"}}']
  const lists = await Promise.all([
    run('docker', ['ps', '-a', ...filter]),
    run('docker', ['volume', 'ls', ...filter]),
  ])
  return lists.flatMap(({ stdout }) => stdout.split('\n')).filter((text) => text.startsWith(install))
}

async function assertRemoved(left: Left): Promise<void> {
  assert.deepEqual(left.pids.filter(isRunning), [])
  assert.equal(existsSync(left.folder), false)
  if (hasEngine) assert.deepEqual(await onEngine(left), [])
}

async function assertPresent(left: Left): Promise<void> {
  assert.deepEqual(left.pids.map(isRunning), [true, true, true])
  assert.equal(existsSync(left.folder), true)
  if (hasEngine) assert.equal((await onEngine(left)).length, 2)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} removes everything, and the exit code says so`, async () => {
    const { keeper, left, exit } = await start('wait')
    await assertPresent(left)
    keeper.kill(signal)
    assert.equal(await exit, 130)
    await assertRemoved(left)
  })
}

test('a benchmark that ends or crashes leaves nothing; its exit code is passed on', async () => {
  for (const [how, code] of [
    ['end', 7],
    ['crash', 1],
  ] as const) {
    const { left, exit } = await start(how)
    assert.equal(await exit, code, how)
    await assertRemoved(left)
  }
})

test('a benchmark whose keeper is killed removes everything itself', async () => {
  const { keeper, left } = await start('wait')
  keeper.kill('SIGKILL')
  // The worker has the same output, which is closed when both have ended.
  await once(keeper, 'close')
  await assertRemoved(left)
})

test('after a kill of benchmark and keeper, the next benchmark removes the leftovers and spares a running one', async () => {
  const [killed, running] = [await start('wait'), await start('wait')]
  const [worker = 0] = killed.left.pids
  // A stopped worker does not notice the end of its keeper.
  process.kill(worker, 'SIGSTOP')
  killed.keeper.kill('SIGKILL')
  await killed.exit
  const closed = once(killed.keeper, 'close')
  process.kill(worker, 'SIGKILL')
  await closed
  assert.deepEqual(killed.left.pids.map(isRunning), [false, true, true])
  assert.equal(existsSync(killed.left.folder), true)

  const next = await start('end')
  assert.equal(await next.exit, 7)
  await assertRemoved(killed.left)
  await assertPresent(running.left)
  running.keeper.kill('SIGTERM')
  await running.exit
  await assertRemoved(running.left)
})
