import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContainerError } from '../ports/containers/port.ts'
import { silentLog } from '../ports/log.ts'
import { createTestClock } from '../test/clock.ts'
import { findAgentsNetwork } from './agents-network.ts'

const there = { hostAddress: { type: 'tcp' as const, address: '172.20.0.1' }, platformUrlHost: '172.20.0.1' }

function engine(answers: boolean) {
  const state = { answers }
  const ensureNetwork = async () => {
    if (state.answers) return there
    throw new ContainerError('engine_down', 'no answer')
  }
  return { state, containers: { kind: 'docker' as const, ensureNetwork, ensureClosedNetwork: ensureNetwork } }
}

test('an engine that is there is listened to at once', async () => {
  const clock = createTestClock()
  const { containers } = engine(true)
  const finder = await findAgentsNetwork({ containers, clock, log: silentLog })
  const heard: object[] = []
  await finder.open(async (address) => void heard.push(address))
  assert.deepEqual([finder.host(), heard], ['172.20.0.1', [there.hostAddress]])
  await finder.close()
})

test('an engine that comes later is found by itself, and an address that is not free yet is tried again', async () => {
  const clock = createTestClock()
  const { state, containers } = engine(false)
  const finder = await findAgentsNetwork({ containers, clock, log: silentLog })
  const heard = Promise.withResolvers<void>()
  let tries = 0
  await finder.open(async () => {
    tries += 1
    if (tries === 1) throw new Error('in use')
    heard.resolve()
  })
  assert.equal(finder.host(), '127.0.0.1')
  await clock.advance(2)
  assert.equal(tries, 0)
  state.answers = true
  await clock.advance(2)
  await clock.advance(2)
  await heard.promise
  await finder.close()
  assert.deepEqual([tries, finder.host()], [2, '172.20.0.1'])
})

test('closing ends the search', async () => {
  const clock = createTestClock()
  const finder = await findAgentsNetwork({ containers: engine(false).containers, clock, log: silentLog })
  await finder.open(() => assert.fail('there is nothing to listen on'))
  await finder.close()
})
