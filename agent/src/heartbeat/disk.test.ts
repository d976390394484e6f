import assert from 'node:assert/strict'
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFakeClock } from '../kit/fake-clock.ts'
import { createDiskMeter, measureDisk } from './disk.ts'

const path = process.env.PATH ?? ''
const log = { info: () => {}, warn: () => {} }
const megabyte = 1_000_000

async function makeHome() {
  const home = await mkdtemp(join(tmpdir(), 'roost-disk-'))
  return { home, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) }
}
const fill = (file: string, bytes: number) => writeFile(file, Buffer.alloc(bytes, 1))

test('the size counts hidden files and a hard link once, and no folder of another agent', async () => {
  await using t = await makeHome()
  const { home } = t
  const signal = new AbortController().signal
  const empty = await measureDisk({ home, path, signal })
  assert.ok(empty < 100_000, String(empty))
  await mkdir(join(home, '.cache/deep'), { recursive: true })
  await mkdir(join(home, 'shared-in/other'), { recursive: true })
  await mkdir(join(home, 'shared-out'))
  await fill(join(home, '.cache/deep/model'), 3 * megabyte)
  await fill(join(home, 'shared-out/result'), megabyte)
  await link(join(home, '.cache/deep/model'), join(home, 'again'))
  await fill(join(home, 'shared-in/other/huge'), 50 * megabyte)
  await symlink('/', join(home, 'everything'))
  const size = await measureDisk({ home, path, signal })
  assert.ok(size >= 4 * megabyte && size < 4.2 * megabyte, String(size))
  await rm(join(home, '.cache'), { recursive: true })
  await rm(join(home, 'again'))
  assert.ok((await measureDisk({ home, path, signal })) < 1.2 * megabyte)
})

test('a name with a line break or a leading dash does not change the size', async () => {
  await using t = await makeHome()
  await fill(join(t.home, '999999999999\thome'), megabyte)
  await fill(join(t.home, '1\n999999999999'), megabyte)
  await fill(join(t.home, '--exclude=*'), megabyte)
  const size = await measureDisk({ home: t.home, path, signal: new AbortController().signal })
  assert.ok(size >= 3 * megabyte && size < 3.2 * megabyte, String(size))
})

test('a missing home and a missing program are errors', async () => {
  const signal = new AbortController().signal
  await assert.rejects(measureDisk({ home: '/nowhere/at/all', path, signal }), /printed no size/)
  await assert.rejects(measureDisk({ home: tmpdir(), path: '/nowhere', signal }), { code: 'ENOENT' })
})

test('measures once a minute, and 20 times less often than it takes', async () => {
  const clock = createFakeClock()
  let measurements = 0
  let tookMs = 0
  const meter = createDiskMeter({
    home: '/home',
    path,
    clock,
    log,
    seconds: () => 60,
    measure: async () => {
      measurements += 1
      if (tookMs > 0) await new Promise<void>((resolve) => clock.after(tookMs, resolve))
      return measurements * 1000
    },
  })
  // All agents of a host do not begin together.
  await clock.advance(29_999)
  assert.equal(measurements, 0)
  await clock.advance(1)
  assert.equal(measurements, 1)
  await clock.advance(59_999)
  assert.equal(measurements, 1)
  tookMs = 10_000
  await clock.advance(1)
  assert.equal(measurements, 2)
  await clock.advance(10_000)
  await clock.advance(199_999)
  assert.equal(measurements, 2)
  await clock.advance(1)
  assert.equal(measurements, 3)
  meter.close()
  await clock.advance(3_600_000)
  assert.equal(measurements, 3)
})

test('a size is sent once, and again to another process of the platform', async () => {
  const clock = createFakeClock()
  const sizes = [5000, 5000, 7000]
  const meter = createDiskMeter({
    home: '/home',
    path,
    clock,
    log,
    seconds: () => 60,
    measure: async () => sizes.shift() ?? 0,
  })
  assert.equal(meter.unsent(), null)
  meter.sendAgain()
  assert.equal(meter.unsent(), null, 'nothing was measured yet')
  await clock.advance(30_000)
  assert.equal(meter.unsent(), 5000)
  meter.sent(5000)
  assert.equal(meter.unsent(), null)
  meter.sendAgain()
  assert.equal(meter.unsent(), 5000)
  await clock.advance(120_000)
  meter.sent(5000)
  assert.equal(meter.unsent(), 7000, 'a newer size is still to be sent')
  meter.close()
})

test('a failed measurement is logged and repeated', async () => {
  const clock = createFakeClock()
  const warnings: string[] = []
  let isFailing = true
  const meter = createDiskMeter({
    home: '/home',
    path,
    clock,
    log: { ...log, warn: (message: string) => void warnings.push(message) },
    seconds: () => 60,
    measure: async () => {
      if (isFailing) throw new Error('no du')
      return 42
    },
  })
  await clock.advance(30_000)
  assert.deepEqual([warnings, meter.unsent()], [['disk usage not measured'], null])
  isFailing = false
  await clock.advance(60_000)
  assert.equal(meter.unsent(), 42)
  meter.close()
})
