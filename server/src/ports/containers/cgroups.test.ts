import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { cgroupFolders, parseCgroupMounts, readCgroupUsage } from './cgroups.ts'
import { createCpuRate } from './cpu-rate.ts'

const hybrid = [
  '31 24 0:26 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw',
  '33 24 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory',
  '34 24 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
].join('\n')
const unified = '29 23 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate'

test('a hybrid host is read through version 1', () => {
  const mounts = parseCgroupMounts(hybrid)
  assert.equal(mounts?.version, 1)
  assert.ok(mounts)
  const folders = cgroupFolders(mounts, '4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/docker/abc\n')
  assert.equal(folders.get('memory'), '/sys/fs/cgroup/memory/docker/abc')
  assert.equal(folders.get('cpuacct'), '/sys/fs/cgroup/cpu,cpuacct/docker/abc')
})

test('a unified host has one folder for all controllers', () => {
  const mounts = parseCgroupMounts(unified)
  assert.ok(mounts)
  const folders = cgroupFolders(mounts, '0::/system.slice/docker-abc.scope\n')
  assert.deepEqual([...folders], [['', '/sys/fs/cgroup/system.slice/docker-abc.scope']])
})

test('a host without control groups returns null', () => {
  assert.equal(parseCgroupMounts('22 1 254:0 / / rw - ext4 /dev/vda rw'), null)
})

test('version 2 excludes reclaimable page cache from memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-cgroup-'))
  try {
    await mkdir(join(folder, 'g'))
    const files = {
      'cpu.stat': 'usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n',
      'memory.current': '1000000\n',
      'memory.stat': 'anon 600000\nfile 400000\ninactive_file 300000\n',
      'memory.max': 'max\n',
    }
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, 'g', file), text)
    const usage = await readCgroupUsage(
      { version: 2, mountPoint: folder, root: '/' },
      new Map([['', join(folder, 'g')]]),
    )
    assert.deepEqual(usage, { cpuNanoseconds: 1_500_000_000, memoryBytes: 700_000, memoryLimitBytes: null })
    await writeFile(join(folder, 'g', 'memory.max'), '2000000\n')
    const limited = await readCgroupUsage(
      { version: 2, mountPoint: folder, root: '/' },
      new Map([['', join(folder, 'g')]]),
    )
    assert.equal(limited?.memoryLimitBytes, 2_000_000)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a missing group returns null', async () => {
  const mounts = { version: 2 as const, mountPoint: '/nowhere', root: '/' }
  assert.equal(await readCgroupUsage(mounts, new Map([['', '/nowhere/g']])), null)
})

test('the CPU rate is percent of one CPU, starts with the second sample and restarts with the counter', () => {
  const rate = createCpuRate()
  assert.equal(rate.percent('a', 0, 0), null)
  assert.equal(rate.percent('a', 2e9, 1000), 200)
  assert.equal(rate.percent('a', 2e9, 1000), 200)
  assert.equal(rate.percent('b', 5e9, 1000), null)
  assert.equal(rate.percent('a', 1e9, 2000), null)
  assert.equal(rate.percent('a', 1.5e9, 3000), 50)
})

test('with a known start time the first sample is the mean since then', () => {
  const rate = createCpuRate()
  rate.startedAt('a', 1000)
  assert.equal(rate.percent('a', 1e9, 3000), 50)
  rate.startedAt('a', 1000)
  assert.equal(rate.percent('a', 2e9, 4000), 100)
  rate.startedAt('a', 5000)
  assert.equal(rate.percent('a', 0.1e9, 6000), 10)
})
