import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PutInnerNetworks, parseOpenedNetwork } from '@roost/contracts/agents/inner-networks'
import type { FilterRules } from '../../ports/containers/port.ts'
import { createInnerNetworks } from './inner-networks.ts'

function world(opened: readonly string[] = []) {
  const applied: FilterRules[] = []
  const state = { opened }
  const filter = createInnerNetworks({
    platformAddresses: () => [':8001', '10.0.0.6:8002', ':8003', 'roost.internal:8001'],
    containers: {
      networkFilter: { isActive: false, problem: 'Nothing is closed. Install nftables.' },
      filterNetwork: async (rules) => void applied.push(rules),
    },
    openedNetworks: () => state.opened,
    async putOpenedNetworks(list) {
      state.opened = list
    },
  })
  return { filter, applied }
}

for (const [text, address, prefix, port] of [
  ['10.0.0.5', '10.0.0.5', 32, null],
  ['10.0.0.5:443', '10.0.0.5', 32, 443],
  ['10.1.0.0/16', '10.1.0.0', 16, null],
  ['10.1.0.0/16:5432', '10.1.0.0', 16, 5432],
  ['fd00::5', 'fd00::5', 128, null],
  ['fd00::/64', 'fd00::', 64, null],
  ['[fd00::5]:443', 'fd00::5', 128, 443],
  ['[fd00::/64]:443', 'fd00::', 64, 443],
  ['169.254.169.254:80', '169.254.169.254', 32, 80],
] as const) {
  test(`${text} can be opened`, () => {
    assert.deepEqual(parseOpenedNetwork(text), { address, prefix, port })
  })
}

for (const [text, rule] of [
  ['intranet.example.com', /must be an address or a network/],
  ['', /must be an address or a network/],
  ['10.0.0', /must be an address/],
  ['10.0.0.5:0', /must be an address/],
  ['10.0.0.5:65536', /must be an address/],
  ['10.0.0.5/33', /must be an address/],
  ['10.0.0.5/24/24', /must be an address/],
  ['[10.0.0.5]:80', /must be an address/],
  ['fd00::5%eth0', /must be an address/],
  ['10.0.0.5; flush ruleset', /must be an address/],
  ['0.0.0.0/0', /at least \/8/],
  ['fc00::/7', /at least \/8/],
  ['127.0.0.1', /loopback/],
  ['::1', /loopback/],
  ['0:0:0:0:0:0:0:1', /loopback/],
  ['224.0.0.251', /loopback, unspecified or multicast/],
  ['ff02::fb', /loopback, unspecified or multicast/],
] as const) {
  test(`${JSON.stringify(text)} cannot be opened: ${rule.source}`, () => {
    assert.match(String(parseOpenedNetwork(text)), rule)
  })
}

test('the refusal names the entry and the rule', () => {
  const result = PutInnerNetworks.safeParse({ opened: ['10.0.0.5', 'example.com'] })
  assert.deepEqual(result.error?.issues[0]?.path, ['opened', 1])
  assert.match(result.error?.issues[0]?.message ?? '', /must be an address or a network/)
})

test('the rules are applied at the start, after a change, and again and again', async () => {
  const { filter, applied } = world(['10.0.0.5:443'])
  await filter.open()
  await filter.put(['10.1.0.0/16', '10.1.0.0/16'])
  await filter.loop.run(new AbortController().signal)
  const platform = {
    platformPorts: [8001, 8003],
    platformHosts: [
      { host: '10.0.0.6', port: 8002 },
      { host: 'roost.internal', port: 8001 },
    ],
  }
  assert.deepEqual(applied, [
    { ...platform, opened: [{ address: '10.0.0.5', prefix: 32, port: 443 }] },
    { ...platform, opened: [{ address: '10.1.0.0', prefix: 16, port: null }] },
    { ...platform, opened: [{ address: '10.1.0.0', prefix: 16, port: null }] },
  ])
  assert.deepEqual(filter.view(), {
    opened: ['10.1.0.0/16'],
    is_closed: false,
    problem: 'Nothing is closed. Install nftables.',
  })
})

test('the proxy follows the same list', () => {
  const { filter } = world(['10.0.0.5:443', '10.1.0.0/16', '192.168.1.2', 'fd00::/64'])
  assert.equal(filter.isOpened('10.0.0.5', 443, false), true)
  assert.equal(filter.isOpened('10.0.0.5', 80, false), false)
  assert.equal(filter.isOpened('10.1.2.3', 80, false), true)
  assert.equal(filter.isOpened('10.1.2.3', 80, true), false, 'a network does not open this machine')
  assert.equal(filter.isOpened('192.168.1.2', 80, true), true, 'an address does')
  assert.equal(filter.isOpened('fd00::7', 80, false), true)
  assert.equal(filter.isOpened('169.254.169.254', 80, false), false)
})
