import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { alone } from './single-flight.ts'

const name = (title: string) => `${title} ${process.pid}`

test('twenty concurrent callers run one after another', async () => {
  let inside = 0
  let maxInside = 0
  const work = async () => {
    inside += 1
    maxInside = Math.max(maxInside, inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside -= 1
  }
  await Promise.all(Array.from({ length: 20 }, () => alone(name('twenty'), work)))
  assert.equal(maxInside, 1)
})

test('a waiter is notified once and then runs', async () => {
  const first = Promise.withResolvers<void>()
  const order: string[] = []
  const holding = alone(name('waits'), async () => {
    order.push('first')
    await first.promise
  })
  const waited = Promise.withResolvers<void>()
  const second = alone(name('waits'), async () => order.push('second'), {
    onWait: () => {
      order.push('waiting')
      waited.resolve()
    },
  })
  await waited.promise
  first.resolve()
  await Promise.all([holding, second])
  assert.deepEqual(order, ['first', 'waiting', 'second'])
})

test('failing work releases the lock', async () => {
  await assert.rejects(
    alone(name('fails'), async () => {
      throw new Error('broken')
    }),
    /broken/,
  )
  assert.equal(await alone(name('fails'), async () => 'free'), 'free')
})

test('a killed holder releases the lock', async () => {
  const script = `
    import { alone } from ${JSON.stringify(new URL('./single-flight.ts', import.meta.url).href)}
    await alone(${JSON.stringify(name('killed'))}, () => new Promise(() => { console.log('held'); setInterval(() => {}, 1e6) }))`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  const turn = alone(name('killed'), async () => 'free', { onWait: () => holder.kill('SIGKILL') })
  assert.equal(await turn, 'free')
})

test('a cancelled waiter stops waiting', async () => {
  const end = Promise.withResolvers<void>()
  const holding = alone(name('cancelled'), () => end.promise)
  const controller = new AbortController()
  const waiting = alone(name('cancelled'), async () => 'never', {
    onWait: () => controller.abort(new Error('enough')),
    signal: controller.signal,
  })
  await assert.rejects(waiting, /enough/)
  end.resolve()
  await holding
})
