import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../config.ts'
import { createFakeEngine } from '../ports/containers/fake.ts'
import { requireContainerRuntime } from './container-runtime.ts'

const refusal = (words: RegExp) => (error: unknown) =>
  error instanceof ConfigError && /ROOST_CONTAINER_RUNTIME/.test(error.message) && words.test(error.message)

test('a runtime that the engine lists is accepted; another one is refused with the listed names', async () => {
  const containers = createFakeEngine().containers('one')
  await requireContainerRuntime(null, containers)
  await requireContainerRuntime('runsc', containers)
  await assert.rejects(requireContainerRuntime('youki', containers), refusal(/lists: kata, runc, runsc$/))
})

test('engines without runtimes refuse the variable', async () => {
  const runtimes = { listed: [], default: null }
  const containers = createFakeEngine({ runtimes }).containers('one')
  await assert.rejects(requireContainerRuntime('runsc', containers), refusal(/lists no runtimes/))
  const sandbox = { kind: 'sandbox' as const, ping: () => assert.fail('not needed'), runtimes }
  await assert.rejects(requireContainerRuntime('runsc', sandbox), refusal(/sandbox:/))
})

test('an engine that is down does not keep the platform from starting', async () => {
  const engine = createFakeEngine()
  engine.refuse(true)
  await requireContainerRuntime('youki', engine.containers('one'))
})
