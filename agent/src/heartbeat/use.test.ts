import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createFakeClock } from '../kit/fake-clock.ts'
import { createUseMeter } from './use.ts'

const devices = [
  'Inter-|   Receive                                                |  Transmit',
  ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs',
  '    lo: 900 9 0 0 0 0 0 0 900 9 0 0 0 0 0 0',
  '  eth0: 100 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0',
  '  eth1:3 1 0 0 0 0 0 0 4 1 0 0 0 0 0 0',
].join('\n')

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'roost-use-'))
  const clock = createFakeClock()
  return {
    clock,
    meter: () => createUseMeter({ clock, cgroup: folder, network: join(folder, 'dev') }),
    write(files: Record<string, string>) {
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true })
        writeFileSync(join(folder, file), text)
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

test('control groups of version 2: percent of one CPU since the last call, memory without its cache', async () => {
  using it = setUp()
  it.write({
    'cpu.stat': 'usage_usec 1000000\nuser_usec 900000\n',
    'memory.current': '5000\n',
    'memory.stat': 'anon 1\ninactive_file 2000\n',
    dev: devices,
  })
  const meter = it.meter()
  it.write({ 'cpu.stat': 'usage_usec 8500000\nuser_usec 900000\n' })
  await it.clock.advance(5000)
  const network = { network_rx_bytes: 103, network_tx_bytes: 24 }
  assert.deepEqual(meter.read(), { cpu_percent: 150, memory_bytes: 3000, ...network })
  await it.clock.advance(5000)
  assert.equal(meter.read()?.cpu_percent, 0)
})

test('control groups of version 1 have the same figures', async () => {
  using it = setUp()
  it.write({
    'cpuacct/cpuacct.usage': '1000000000\n',
    'memory/memory.usage_in_bytes': '5000\n',
    'memory/memory.stat': 'inactive_file 1\ntotal_inactive_file 4000\n',
  })
  const meter = it.meter()
  it.write({ 'cpuacct/cpuacct.usage': '2000000000\n' })
  await it.clock.advance(10_000)
  const network = { network_rx_bytes: null, network_tx_bytes: null }
  assert.deepEqual(meter.read(), { cpu_percent: 10, memory_bytes: 1000, ...network })
})

test('without readable counters there is no report, and a counter that was reset gives 0', async () => {
  using it = setUp()
  const meter = it.meter()
  await it.clock.advance(5000)
  assert.equal(meter.read(), null)
  it.write({ 'cpu.stat': 'usage_usec 7000000\n', 'memory.current': 'max\n' })
  await it.clock.advance(5000)
  assert.equal(meter.read(), null)
  it.write({ 'cpu.stat': 'usage_usec 1000\n', 'memory.current': '7\n' })
  await it.clock.advance(5000)
  assert.deepEqual([meter.read()?.cpu_percent, meter.read()], [0, null], 'two reads at one time have no rate')
})
