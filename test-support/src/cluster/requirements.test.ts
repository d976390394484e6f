import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MachineFacts, missingRequirement } from './requirements.ts'

const complete: MachineFacts = {
  isRoot: true,
  codename: 'bookworm',
  controllers: ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids'],
  cache: '/root/.cache/roost/cluster',
  isCacheOverlaid: false,
  isBuilt: false,
}

test('a machine with everything lacks nothing, nor does another system with the built programs', () => {
  assert.equal(missingRequirement(complete), null)
  assert.equal(missingRequirement({ ...complete, codename: 'trixie', isBuilt: true }), null)
})

test('each missing part is named in one sentence', () => {
  const cases: [Partial<MachineFacts>, RegExp][] = [
    [{ isRoot: false }, /needs root/],
    [{ controllers: ['cpu', 'memory'] }, /missing: cpuacct, cpuset, devices, freezer, blkio, pids/],
    [{ codename: 'trixie' }, /Debian 12 \(bookworm\); this is trixie/],
    [{ codename: null }, /this is another system/],
    [{ isCacheOverlaid: true }, /overlay file system.*ROOST_CLUSTER_CACHE/],
    [{ cache: '/var/lib/jenkins/cache' }, /below \/var\/lib, which each node replaces/],
  ]
  for (const [change, pattern] of cases)
    assert.match(missingRequirement({ ...complete, ...change }) ?? '', pattern)
})

test('a cache folder is not refused for a name that only begins like a replaced folder', () => {
  assert.equal(missingRequirement({ ...complete, cache: '/var/library/cache' }), null)
})
