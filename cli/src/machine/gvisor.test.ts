import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsKernelNetwork, withRuntime } from './gvisor.ts'

test('a runtime is added to the configuration of the engine, and everything else is kept', () => {
  const added = { runsc: { path: '/usr/bin/runsc' } }
  assert.deepEqual(JSON.parse(withRuntime('', 'runsc', { path: '/usr/bin/runsc' })), { runtimes: added })
  const before = { debug: true, runtimes: { kata: { path: '/opt/kata' } } }
  assert.deepEqual(JSON.parse(withRuntime(JSON.stringify(before), 'runsc', { path: '/usr/bin/runsc' })), {
    debug: true,
    runtimes: { ...before.runtimes, ...added },
  })
})

test('a configuration that is not a JSON object is left alone', () => {
  assert.throws(
    () => withRuntime('[]', 'runsc', { path: '/usr/bin/runsc' }),
    /daemon\.json is not a JSON object/,
  )
  assert.throws(() => withRuntime('{', 'runsc', { path: '/usr/bin/runsc' }), SyntaxError)
})

test("gVisor's own network is not used where this version of it fails", () => {
  const debian = 'runsc version 0.0~20221219.0\nspec: 1.0.2-dev\n'
  assert.equal(needsKernelNetwork(debian, true), true)
  assert.equal(needsKernelNetwork(debian, false), false)
  assert.equal(needsKernelNetwork('runsc version release-20260901.0\n', true), false)
})
