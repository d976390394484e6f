import assert from 'node:assert/strict'
import { BlockList, createConnection, createServer } from 'node:net'
import { test } from 'node:test'
import { createLocate, innerNetworks4, innerNetworks6, isInnerAddress, pinnedLookup } from './addresses.ts'

test('local and private addresses are inner in every spelling', () => {
  for (const address of [
    ...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '0.0.0.0', '100.100.1.1'],
    ...['224.0.0.1', '255.255.255.255', '198.51.100.7', '203.0.113.9'],
    // Metadata services of Azure and Oracle Cloud.
    ...['168.63.129.16', '192.0.0.192'],
    ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:a00:1', '::ffff:0:10.0.0.1'],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
    ...['2600::1%eth0', 'localhost', ''],
  ]) {
    assert.ok(isInnerAddress(address), address)
  }
  for (const address of [
    '1.1.1.1',
    '140.82.112.3',
    '172.32.0.1',
    '168.63.129.17',
    '2606:4700::1111',
    '2a00:1450::5',
  ]) {
    assert.equal(isInnerAddress(address), false, address)
  }
})

test('inner networks do not overlap, because nftables refuses that', () => {
  const families = { ipv4: innerNetworks4, ipv6: innerNetworks6 } as const
  for (const family of ['ipv4', 'ipv6'] as const)
    for (const network of families[family]) {
      const others = new BlockList()
      for (const other of families[family]) {
        const [address = '', prefix] = other.split('/')
        if (other !== network) others.addSubnet(address, Number(prefix), family)
      }
      assert.equal(others.check(network.split('/')[0] ?? '', family), false, network)
    }
})

test('a name with one inner address among others is refused', async () => {
  const locate = createLocate({ lookup: async () => ['1.1.1.1', '10.0.0.1'] })
  assert.deepEqual(await locate('mixed.example.com', 443), { ok: false, fault: 'inner_address' })
})

test('an inner address is allowed only for the host and port it was configured for', async () => {
  const locate = createLocate({
    lookup: async () => ['10.0.0.6'],
    named: new Map([['git.corp:8443', '10.0.0.5']]),
  })
  assert.deepEqual(await locate('git.corp', 8443), { ok: true, addresses: ['10.0.0.5'] })
  assert.equal((await locate('git.corp', 8444)).ok, false)
  assert.equal((await locate('10.0.0.5', 8443)).ok, false)
  assert.equal((await locate('[::ffff:10.0.0.5]', 8443)).ok, false)
})

test('a public address of this machine is refused', async () => {
  const locate = createLocate({
    lookup: async () => ['198.41.0.4'],
    isOwn: (address) => address === '198.41.0.4',
  })
  assert.deepEqual(await locate('me.example.com', 443), { ok: false, fault: 'inner_address' })
})

test('a pinned connection makes no further lookup', async () => {
  const server = createServer((socket) => socket.end('here'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The test's own server listens on a port.
  const { port } = server.address() as { port: number }
  const socket = createConnection({
    host: 'name.that.nobody.has',
    port,
    lookup: pinnedLookup(['127.0.0.1']),
  })
  const [said] = await socket.setEncoding('utf8').toArray()
  assert.equal(said, 'here')
  server.close()
})

test('further networks are closed, and parts of them can be opened', async () => {
  const hosts = new Map([
    ['pod4', '20.1.2.3'],
    ['pod6', '2600:1f13::7'],
    ['outside', '20.2.2.3'],
  ])
  const locate = createLocate({
    lookup: async (host) => [hosts.get(host) ?? ''],
    closed: ['20.1.0.0/16', '2600:1f13::/32'],
  })
  assert.deepEqual(await locate('pod4', 443), { ok: false, fault: 'inner_address' })
  assert.deepEqual(await locate('pod6', 443), { ok: false, fault: 'inner_address' })
  assert.deepEqual(await locate('outside', 443), { ok: true, addresses: ['20.2.2.3'] })
  const opened = await locate('pod4', 443, (address) => address === '20.1.2.3')
  assert.deepEqual(opened, { ok: true, addresses: ['20.1.2.3'] })
})

test('an opened inner address is used; the caller knows whether it belongs to this machine', async () => {
  const requests: unknown[] = []
  const locate = createLocate({
    lookup: async () => ['10.0.0.5', '192.168.1.2'],
    isOwn: (address) => address === '192.168.1.2',
  })
  const opens = (...opened: string[]) =>
    locate('intranet.example.com', 443, (address, port, isOwn) => {
      requests.push([address, port, isOwn])
      return opened.includes(address)
    })
  assert.deepEqual(await opens('10.0.0.5'), { ok: false, fault: 'inner_address' })
  assert.deepEqual(requests, [
    ['10.0.0.5', 443, false],
    ['192.168.1.2', 443, true],
  ])
  assert.deepEqual(await opens('10.0.0.5', '192.168.1.2'), {
    ok: true,
    addresses: ['10.0.0.5', '192.168.1.2'],
  })
})
