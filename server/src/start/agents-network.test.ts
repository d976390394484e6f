import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContainerError } from '../ports/containers/port.ts'
import { silentLog } from '../ports/log.ts'
import { createTestClock } from '../test/clock.ts'
import { findAgentsNetwork, ownAddresses } from './agents-network.ts'

const there = { hostAddress: { type: 'tcp' as const, address: '172.20.0.1' }, platformUrlHost: '172.20.0.1' }

function engine(answers: boolean) {
  const state = { answers }
  const ensureNetwork = async () => {
    if (state.answers) return there
    throw new ContainerError('engine_down', 'no answer')
  }
  return { state, containers: { ensureNetwork, ensureClosedNetwork: ensureNetwork } }
}

test('with a running engine, listening starts immediately', async () => {
  const clock = createTestClock()
  const { containers } = engine(true)
  const finder = await findAgentsNetwork({ containers, clock, log: silentLog })
  const listened: object[] = []
  await finder.open(async (address) => void listened.push(address))
  assert.deepEqual([finder.host(), listened], ['172.20.0.1', [there.hostAddress]])
  await finder.close()
})

test('an engine that starts later is found automatically, and a busy address is retried', async () => {
  const clock = createTestClock()
  const { state, containers } = engine(false)
  const finder = await findAgentsNetwork({ containers, clock, log: silentLog })
  const listened = Promise.withResolvers<void>()
  let tries = 0
  await finder.open(async () => {
    tries += 1
    if (tries === 1) throw new Error('in use')
    listened.resolve()
  })
  assert.equal(finder.host(), '127.0.0.1')
  await clock.advance(2)
  assert.equal(tries, 0)
  state.answers = true
  await clock.advance(2)
  await clock.advance(2)
  await listened.promise
  await finder.close()
  assert.deepEqual([tries, finder.host()], [2, '172.20.0.1'])
})

test('closing ends the search', async () => {
  const clock = createTestClock()
  const finder = await findAgentsNetwork({ containers: engine(false).containers, clock, log: silentLog })
  await finder.open(() => assert.fail('there is no address to listen on'))
  await finder.close()
})

test('agents made before an update connect under their former address; a failure there is not fatal', async () => {
  const found = { ...there, formerAddresses: ['172.19.0.1', '172.21.0.1'] }
  const ensureNetwork = async () => found
  const finder = await findAgentsNetwork({
    containers: { ensureNetwork, ensureClosedNetwork: ensureNetwork },
    clock: createTestClock(),
    log: silentLog,
  })
  const listened: unknown[] = []
  await finder.open(async (address) => {
    listened.push(address)
    if ('address' in address && address.address === '172.19.0.1') throw new Error('in use')
  })
  assert.deepEqual(listened, [
    there.hostAddress,
    { type: 'tcp', address: '172.19.0.1' },
    { type: 'tcp', address: '172.21.0.1' },
  ])
  await finder.close()
})

test('the address for agents is their own network, unless this process does not listen there', () => {
  const config = { internalPort: 8001, internalHost: null, agentAddresses: [] }
  const tcp = there.hostAddress
  const loopback = { type: 'loopback' as const }
  assert.deepEqual(ownAddresses(tcp, config), [':8001'])
  assert.deepEqual(ownAddresses({ type: 'any' }, config), [':8001'])
  assert.deepEqual(
    ownAddresses(loopback, config),
    [':8001'],
    'an engine in a virtual machine leads to loopback',
  )
  assert.deepEqual(ownAddresses(null, config), [':8001'])
  assert.deepEqual(ownAddresses(tcp, { ...config, internalHost: 'any' }), [':8001'])
  const onLan = { ...config, internalHost: '10.0.0.6' }
  assert.deepEqual(ownAddresses(tcp, onLan), [':8001', '10.0.0.6:8001'])
  assert.deepEqual(ownAddresses(loopback, onLan), ['10.0.0.6:8001'], 'an engine on another machine')
  const named = [
    { host: 'roost.internal', port: null },
    { host: 'fd00::6', port: 9001 },
  ]
  assert.deepEqual(ownAddresses(loopback, { ...onLan, agentAddresses: named }), [
    'roost.internal:8001',
    '[fd00::6]:9001',
  ])
})
