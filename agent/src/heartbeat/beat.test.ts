import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeClock } from '../kit/fake-clock.ts'
import { startBeats } from './beat.ts'

test('every five seconds a heartbeat lists the active runs', async () => {
  const clock = createFakeClock()
  const beats: object[] = []
  let isUp = true
  let unsent: number | null = null
  const used = { cpu_percent: 12.5, memory_bytes: 2048, network_rx_bytes: null, network_tx_bytes: null }
  let use: typeof used | null = null
  const stop = startBeats({
    clock,
    log: { info: () => {}, warn: () => {} },
    link: {
      isUp: () => isUp,
      call: async (_: string, body: object) => {
        beats.push(body)
        return { ok: true } as never
      },
    },
    memoryMb: () => 21,
    active: () => 1,
    disk: {
      unsent: () => unsent,
      sent: (bytes) => {
        if (bytes === unsent) unsent = null
      },
    },
    answered: () => {},
    use: { read: () => use },
    activities: () => [{ execution_id: 'run-1', tool: 'Bash' }],
  })
  await clock.advance(4999)
  assert.equal(beats.length, 0)
  await clock.advance(1)
  assert.deepEqual(beats, [
    {
      memory_mb: 21,
      active_executions: 1,
      uptime_s: 5,
      executions: [{ execution_id: 'run-1', tool: 'Bash' }],
    },
  ])
  isUp = false
  await clock.advance(10_000)
  assert.equal(beats.length, 1)
  isUp = true
  await clock.advance(5000)
  assert.equal(beats.length, 2)
  unsent = 4096
  await clock.advance(10_000)
  const sizes = beats.slice(2).map((beat) => 'disk_bytes' in beat && beat.disk_bytes)
  assert.deepEqual(sizes, [4096, false], 'a measurement is sent once')
  use = used
  await clock.advance(5000)
  assert.deepEqual(beats.at(-1), { ...beats[0], uptime_s: 35, use: used })
  stop()
  await clock.advance(60_000)
  assert.equal(beats.length, 5)
})
