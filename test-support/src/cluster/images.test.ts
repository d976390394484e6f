import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullName, planChanges } from './images.ts'

test('references have the form of the kubelet', () => {
  const cases = [
    ['busybox', 'docker.io/library/busybox:latest'],
    ['roost-agent:x', 'docker.io/library/roost-agent:x'],
    ['team/app:1', 'docker.io/team/app:1'],
    ['localhost/app', 'localhost/app:latest'],
    ['host:5000/app', 'host:5000/app:latest'],
    ['ghcr.io/a/b@sha256:00', 'ghcr.io/a/b@sha256:00'],
  ]
  for (const [reference = '', expected] of cases) assert.equal(fullName(reference), expected)
})

test('only images with another id are loaded, and images unused for a week are removed', () => {
  const day = 86_400_000
  const now = 100 * day
  const index = {
    same: { id: '1', usedAt: 0 },
    changed: { id: '1', usedAt: now },
    recent: { id: '1', usedAt: now - 7 * day },
    old: { id: '1', usedAt: now - 7 * day - 1 },
  }
  const wanted = {
    same: { id: '1', usedAt: now },
    changed: { id: '2', usedAt: now },
    fresh: { id: '1', usedAt: now },
  }
  assert.deepEqual(planChanges(index, wanted, now), { add: ['changed', 'fresh'], remove: ['old'] })
})
