import assert from 'node:assert/strict'
import { test } from 'node:test'
import { specOf } from '../test/harness.ts'
import { createOptions } from './spec.ts'

const traits = { cpus: 2, ulimits: [], canSeparate: true, canLayer: true }

test("CPUs above the host's count are reduced to it", () => {
  const spec = specOf('x', 'stay', { cpus: 16 })
  assert.equal(createOptions(spec, 'i', 'n', traits).HostConfig?.NanoCpus, 2e9)
  assert.equal(createOptions({ ...spec, cpus: 1 }, 'i', 'n', traits).HostConfig?.NanoCpus, 1e9)
})

test('no swap is allowed in addition to memory', () => {
  const { HostConfig } = createOptions(specOf('x', 'stay', { memoryBytes: 2 ** 30 }), 'i', 'n', traits)
  assert.equal(HostConfig?.Memory, 2 ** 30)
  assert.equal(HostConfig?.MemorySwap, 2 ** 30)
})

test('the OCI runtime is passed on; without one the engine uses its default', () => {
  const withRuntime = specOf('x', 'stay', { runtime: 'runsc' })
  assert.equal(createOptions(withRuntime, 'i', 'n', traits).HostConfig?.Runtime, 'runsc')
  assert.equal('Runtime' in (createOptions(specOf('x', 'stay'), 'i', 'n', traits).HostConfig ?? {}), false)
})

test('full capabilities add three and allow new privileges', () => {
  const usual = createOptions(specOf('x', 'stay'), 'i', 'n', traits).HostConfig
  const full = createOptions(specOf('x', 'stay', { fullCapabilities: true }), 'i', 'n', traits).HostConfig
  assert.deepEqual(usual?.CapDrop, ['ALL'])
  assert.deepEqual(usual?.CapAdd, [
    'NET_BIND_SERVICE',
    'SETGID',
    'SETUID',
    'CHOWN',
    'SYS_CHROOT',
    'AUDIT_WRITE',
  ])
  assert.deepEqual(usual?.SecurityOpt, ['no-new-privileges:true'])
  assert.deepEqual(full?.CapAdd, [...(usual?.CapAdd ?? []), 'DAC_OVERRIDE', 'FOWNER', 'KILL'])
  assert.deepEqual(full?.SecurityOpt, [])
})

test('only SSH is published, and only if requested', () => {
  const without = createOptions(specOf('x', 'stay'), 'i', 'n', traits)
  assert.equal(without.HostConfig?.PortBindings, undefined)
  const withSsh = createOptions(
    specOf('x', 'stay', { ssh: { bind: '127.0.0.1', port: 2222 } }),
    'i',
    'n',
    traits,
  )
  assert.deepEqual(withSsh.HostConfig?.PortBindings, {
    '22/tcp': [{ HostIp: '127.0.0.1', HostPort: '2222' }],
  })
})

test('a spec cannot override the label of the installation', () => {
  const options = createOptions(
    specOf('x', 'stay', { labels: { 'roost.install': 'other' } }),
    'i',
    'n',
    traits,
  )
  assert.equal(options.Labels?.['roost.install'], 'i')
})
