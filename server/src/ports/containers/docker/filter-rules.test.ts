import assert from 'node:assert/strict'
import { test } from 'node:test'
import { innerNetworks4, innerNetworks6, isInnerAddress } from '../../../kit/addresses.ts'
import { filterScript, tableOf } from './filter-rules.ts'
import { nameServersIn } from './packet-filter.ts'

const table = tableOf('an-installation')
const open = { name: 'br-open', gateway: '172.20.0.1', isClosed: false }
const closed = { name: 'br-closed', gateway: '172.21.0.1', isClosed: true }
const platform = { platformPorts: [8001], platforms: [] }
const rulesOf = (script: string) => script.split('\n').map((line) => line.trim())
const indexOf = (script: string, start: string) => {
  const at = rulesOf(script).findIndex((line) => line.startsWith(start))
  assert.notEqual(at, -1, `${start} in\n${script}`)
  return at
}

test('the table has a name of the installation, which nftables accepts', () => {
  assert.match(table, /^roost_[0-9a-f]{12}$/)
  assert.notEqual(tableOf('another-installation'), table)
})

test('one transaction replaces the own table and names no other', () => {
  const script = filterScript(table, [open], { ...platform, opened: [] }, [])
  assert.deepEqual(rulesOf(script).slice(0, 2), [`add table inet ${table}`, `delete table inet ${table}`])
  assert.deepEqual([...new Set(script.match(/table inet \S+/g))], [`table inet ${table}`])
  assert.doesNotMatch(script, /flush/)
})

test('without bridges the table is removed', () => {
  const script = filterScript(table, [], { ...platform, opened: [] }, [])
  assert.equal(script, `add table inet ${table}\ndelete table inet ${table}\n`)
})

test('a closed bridge reaches the platform and neither name servers nor opened networks', () => {
  const opened = [{ address: '10.0.0.5', prefix: 32, port: null }]
  const script = filterScript(table, [open, closed], { ...platform, opened }, ['10.0.0.2'])
  const everything = indexOf(script, 'iifname { "br-closed" } reject')
  assert.ok(indexOf(script, 'iifname "br-closed" ip daddr 172.21.0.1 tcp dport { 8001 } return') < everything)
  assert.ok(indexOf(script, 'ip daddr 10.0.0.2 meta l4proto { tcp, udp } th dport 53') > everything)
  assert.ok(indexOf(script, 'ip daddr 10.0.0.5/32 return') > everything)
})

test('all processes of the platform are reached at exactly their ports', () => {
  const several = {
    platformPorts: [8001, 8002],
    platforms: [
      { address: '10.0.0.6', port: 8001 },
      { address: 'fd00::6', port: 9001 },
    ],
  }
  const script = filterScript(table, [open, closed], { ...several, opened: [] }, [])
  const everything = indexOf(script, 'iifname { "br-closed" } reject')
  for (const rule of [
    'iifname "br-open" ip daddr 172.20.0.1 tcp dport { 8001, 8002 } return',
    'iifname "br-closed" ip daddr 172.21.0.1 tcp dport { 8001, 8002 } return',
    'ip daddr 10.0.0.6 tcp dport 8001 return',
    'ip6 daddr fd00::6 tcp dport 9001 return',
  ])
    assert.ok(indexOf(script, rule) < everything)
  assert.doesNotMatch(
    filterScript(table, [open], { ...several, platformPorts: [], opened: [] }, []),
    /172\.20\.0\.1/,
  )
})

test('opened entries come before everything closed; networks do not open this machine', () => {
  const opened = [
    { address: '10.1.0.0', prefix: 16, port: 443 },
    { address: 'fd00::5', prefix: 128, port: null },
  ]
  const script = filterScript(table, [open], { ...platform, opened }, [])
  const network = 'ip daddr 10.1.0.0/16 meta l4proto { tcp, udp } th dport 443 fib daddr type != local return'
  const local = indexOf(script, 'fib daddr type { local, broadcast, multicast } reject')
  assert.ok(indexOf(script, network) < local)
  assert.ok(indexOf(script, 'ip6 daddr fd00::5/128 return') < local)
  for (const range of ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'])
    assert.match(script, new RegExp(`ip daddr \\{.*${range}`))
  // fc00::/7 contains the metadata address fd00:ec2::254.
  for (const range of ['fc00::/7', 'fe80::/10']) assert.match(script, new RegExp(`ip6 daddr \\{.*${range}`))
})

test('name servers of the host and of the engine, except those that the engine asks by itself', () => {
  const resolv = '# a comment\nnameserver 127.0.0.53\nnameserver 10.0.0.2\nnameserver fe80::1%eth0\n'
  assert.deepEqual(nameServersIn([resolv, 'nameserver fd00::53\n'], '{"dns": ["192.168.1.1", "10.0.0.2"]}'), [
    '10.0.0.2',
    'fd00::53',
    '192.168.1.1',
  ])
  for (const broken of ['', '{', '{"dns": "x"}', '[]', 'null'])
    assert.deepEqual(nameServersIn(['nameserver nonsense'], broken), [])
})

test('agents reach directly what the outbound proxy would reach for them, and nothing else', () => {
  const script = filterScript(table, [open], { ...platform, opened: [] }, [])
  const closedIn = (family: string) =>
    new RegExp(`^ {4}${family} daddr \\{ (.*) \\} reject$`, 'm').exec(script)?.[1]?.split(', ') ?? []
  const networks = [...closedIn('ip'), ...closedIn('ip6')]
  assert.deepEqual(networks.toSorted(), [...innerNetworks4, ...innerNetworks6].toSorted())
  for (const network of networks) assert.ok(isInnerAddress(network.split('/')[0] ?? ''), network)
})
