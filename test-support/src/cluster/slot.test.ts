import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNetworkUsed, maxNodes, planSlot, slotCount } from './slot.ts'

test('no two slots share a name, a network or a loopback address', () => {
  const slots = Array.from({ length: slotCount }, (_, number) => planSlot(number))
  for (const field of ['name', 'network', 'bridge', 'loopback', 'serviceNetwork'] as const)
    assert.equal(new Set(slots.map((slot) => slot[field])).size, slotCount, field)
})

test('every address of a slot lies in its network, and link names fit into the 15 characters of the kernel', () => {
  for (let number = 0; number < slotCount; number += 1) {
    const slot = planSlot(number)
    const nodes = Array.from({ length: maxNodes }, (_, index) => slot.node(index + 1))
    const addresses = [
      slot.hostAddress,
      slot.serviceNetwork,
      slot.apiServiceAddress,
      ...nodes.flatMap(({ address, podNetwork }) => [address, podNetwork]),
    ]
    for (const address of addresses) assert.ok(isNetworkUsed(slot.network, [address]), address)
    assert.equal(new Set(addresses).size, addresses.length)
    for (const link of [slot.bridge, ...nodes.map((node) => node.link)]) assert.ok(link.length <= 15, link)
  }
})

test('a network is used by a route inside it or around it, and not by the default route or a neighbour', () => {
  const cases: [string[], boolean][] = [
    [['default', '10.161.0.0/16', '192.168.0.0/16', '10.159.255.255'], false],
    [['10.160.3.0/24'], true],
    [['10.0.0.0/8'], true],
    [['10.160.255.255'], true],
    [[], false],
  ]
  for (const [used, expected] of cases)
    assert.equal(isNetworkUsed('10.160.0.0/16', used), expected, used.join())
})
