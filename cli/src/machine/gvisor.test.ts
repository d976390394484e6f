import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withRuntime } from './gvisor.ts'

test('a runtime is added to the configuration of the engine, and everything else is kept', () => {
  const added = { runsc: { path: '/usr/bin/runsc' } }
  assert.deepEqual(JSON.parse(withRuntime('', 'runsc', '/usr/bin/runsc')), { runtimes: added })
  const before = { debug: true, runtimes: { kata: { path: '/opt/kata' } } }
  assert.deepEqual(JSON.parse(withRuntime(JSON.stringify(before), 'runsc', '/usr/bin/runsc')), {
    debug: true,
    runtimes: { ...before.runtimes, ...added },
  })
})

test('a configuration that is not a JSON object is left alone', () => {
  assert.throws(() => withRuntime('[]', 'runsc', '/usr/bin/runsc'), /daemon\.json is not a JSON object/)
  assert.throws(() => withRuntime('{', 'runsc', '/usr/bin/runsc'), SyntaxError)
})
