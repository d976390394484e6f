import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  allowedRuntimes,
  currentRuntime,
  effectiveRuntime,
  isolationOf,
  isWeakerThan,
  type RuntimePolicy,
  requestedRuntime,
} from './container-runtime.ts'

const listed = ['kata-fc', 'runc', 'runsc', 'special']
const policyOf = (installation: string | null, byDefault: string | null = 'runc'): RuntimePolicy => ({
  installation,
  engine: { listed, default: byDefault },
})
const agentWith = (container_runtime: string | null) => ({ container_runtime, applied: null })

const order: [runtime: string, floor: string, isWeaker: boolean][] = [
  ['runc', 'runc', false],
  ['runsc', 'runc', false],
  ['special', 'runc', false],
  ['special', 'io.containerd.runc.v2', false],
  ['runc', 'runsc', true],
  ['crun', 'runsc', true],
  ['io.containerd.runc.v2', 'runsc', true],
  ['special', 'runsc', true],
  ['runscape', 'runsc', true],
  ['kata', 'runsc', false],
  ['runsc-kvm', 'kata-fc', false],
  ['runc', 'special', true],
  ['runsc', 'special', true],
  ['special', 'special', false],
]
for (const [runtime, floor, isWeaker] of order) {
  test(`${runtime} is ${isWeaker ? '' : 'not '}weaker than ${floor}`, () => {
    assert.equal(isWeakerThan(runtime, floor), isWeaker)
  })
}

test('the floor is the runtime of the installation, else the default of the engine', () => {
  assert.deepEqual(allowedRuntimes(policyOf(null)), listed)
  assert.deepEqual(allowedRuntimes(policyOf('runsc')), ['kata-fc', 'runsc'])
  assert.deepEqual(allowedRuntimes(policyOf(null, 'runsc')), ['kata-fc', 'runsc'])
  assert.deepEqual(allowedRuntimes(policyOf('special')), ['special'])
})

test('an own runtime below the floor has no effect', () => {
  assert.equal(requestedRuntime(agentWith(null), policyOf(null)), null)
  assert.equal(requestedRuntime(agentWith(null), policyOf('runsc')), 'runsc')
  assert.equal(requestedRuntime(agentWith('kata-fc'), policyOf('runsc')), 'kata-fc')
  assert.equal(requestedRuntime(agentWith('runc'), policyOf('runsc')), 'runsc')
  assert.equal(requestedRuntime(agentWith('runc'), policyOf(null, 'runsc')), null)
  assert.equal(effectiveRuntime(agentWith('runc'), policyOf(null, 'runsc')), 'runsc')
})

test('an agent is shown with the runtime of its container, else with the next one', () => {
  const container = { level: 'container' as const, weaker: [] }
  const applied = (container_runtime?: string | null) => ({
    container_runtime: 'runsc',
    applied: {
      ...{ cpu: '2', memory: '4g', full_capabilities: false, runtime: 'codex', agent_key_id: null },
      ...{ image_version: 'v1', folders: [] },
      ...(container_runtime === undefined ? {} : { container_runtime }),
    },
  })
  const levelOf = (agent: Parameters<typeof isolationOf>[0]) => {
    const { level, runtime } = isolationOf(agent, policyOf(null), container)
    return [level, runtime]
  }
  assert.deepEqual(levelOf(applied('runc')), ['container', 'runc'])
  assert.deepEqual(levelOf(applied('runsc')), ['own_kernel', 'runsc'])
  assert.deepEqual(levelOf(applied()), ['container', 'runc'])
  assert.deepEqual(levelOf(agentWith('kata-fc')), ['own_kernel', 'kata-fc'])
  const gapsOf = (runtime: string) => isolationOf(applied(runtime), policyOf(null), container).weaker
  assert.match(gapsOf('runsc').join('\n'), /each other’s conversations\.\n.*read-only mode/)
  assert.deepEqual([gapsOf('kata-fc'), gapsOf('runc')], [[], []])
})

test('a sandbox has no runtime', () => {
  const policy: RuntimePolicy = { installation: null, engine: { listed: [], default: null } }
  const sandbox = { level: 'sandbox' as const, weaker: ['Weaker.'] }
  const agent = { container_runtime: null, applied: null }
  assert.deepEqual(isolationOf(agent, policy, sandbox), { ...sandbox, runtime: null })
  assert.equal(currentRuntime(agent, policy), null)
})
