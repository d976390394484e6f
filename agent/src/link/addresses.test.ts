import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parsePlatformAddress } from '@roost/contracts/link/addresses'
import { createFakeClock } from '../kit/fake-clock.ts'
import { type Addresses, type AddressesDeps, createAddresses, type Target } from './addresses.ts'

const root = mkdtempSync(join(tmpdir(), 'roost-addresses-'))
after(() => rmSync(root, { recursive: true }))
let files = 0

function open(deps: Partial<AddressesDeps> = {}, further: string[] = []) {
  const file = deps.file ?? join(root, String(files++))
  const addresses = createAddresses({
    linkUrl: 'ws://10.0.0.1:8001/link',
    further: further.map((each) => parsePlatformAddress(each)).filter((each) => each !== null),
    file,
    clock: createFakeClock(),
    log: { info: () => {}, warn: () => {} },
    resolve: () => Promise.reject(new Error('there are no names')),
    ...deps,
  })
  return { addresses, file }
}

async function round(addresses: Addresses, count: number): Promise<Target[]> {
  const targets: Target[] = []
  for (let index = 0; index < count; index += 1) targets.push(await addresses.next())
  return targets
}

const placesOf = (targets: Target[]) => targets.map(({ host, port }) => `${host}:${port}`).sort()

test('one address is tried again and again, patiently', async () => {
  const { addresses } = open()
  const [first, second] = await round(addresses, 2)
  assert.deepEqual(first, {
    url: 'ws://10.0.0.1:8001/link',
    host: '10.0.0.1',
    port: 8001,
    handshakeMs: 10_000,
  })
  assert.deepEqual(second, first)
})

test('each round has every address once; a missing host is that of the environment', async () => {
  const { addresses } = open({}, ['10.0.0.2:8001', ':8002', '[fd00::1]:8001', '10.0.0.1:8001'])
  const all = ['10.0.0.1:8001', '10.0.0.1:8002', '10.0.0.2:8001', 'fd00::1:8001']
  const first = await round(addresses, 4)
  assert.deepEqual(placesOf(first), all)
  assert.deepEqual([...new Set(first.map(({ handshakeMs }) => handshakeMs))], [3000])
  assert.ok(first.some(({ url }) => url === 'ws://[fd00::1]:8001/link'))
  // A platform that is only slow gets its chance in the second round.
  const second = await round(addresses, 4)
  assert.deepEqual(placesOf(second), all)
  assert.deepEqual([...new Set(second.map(({ handshakeMs }) => handshakeMs))], [10_000])
})

test('the address whose link was lost is tried last', async () => {
  let rank = 0
  const clock = { ...createFakeClock(), random: () => (rank++ % 7) / 7 }
  const { addresses } = open({ clock }, [':8002', ':8003'])
  for (let time = 0; time < 20; time += 1) {
    const [lost] = await round(addresses, 1 + (time % 3))
    assert.ok(lost)
    addresses.reached(lost)
    const next = await round(addresses, 3)
    assert.deepEqual(next.at(-1)?.port, lost.port)
    assert.equal(placesOf(next).length, 3)
    addresses.reached(lost)
  }
})

test('agents do not turn to the same process: the order is random', async () => {
  const firsts = new Map<number, number>()
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  for (let agent = 0; agent < 60; agent += 1) {
    const { addresses } = open({ clock: { ...createFakeClock(), random } }, [':8002', ':8003'])
    const [target] = await round(addresses, 1)
    firsts.set(target?.port ?? 0, (firsts.get(target?.port ?? 0) ?? 0) + 1)
  }
  assert.equal(firsts.size, 3)
  for (const count of firsts.values()) assert.ok(count >= 8, String([...firsts]))
})

test('a name is resolved for each round, to all of its addresses', async () => {
  const answers = [['10.0.0.5', 'fd00::5'], ['10.0.0.6']]
  const resolve = async (name: string) => (name === 'roost.internal' ? (answers.shift() ?? []) : [])
  const { addresses } = open({ linkUrl: 'ws://roost.internal:8001/link', resolve })
  const first = await round(addresses, 2)
  assert.deepEqual(placesOf(first), ['10.0.0.5:8001', 'fd00::5:8001'])
  assert.deepEqual([...new Set(first.map(({ url }) => url))], ['ws://roost.internal:8001/link'])
  assert.deepEqual(placesOf(await round(addresses, 1)), ['10.0.0.6:8001'])
  // Unresolved, it is dialled as it is.
  assert.deepEqual(placesOf(await round(addresses, 1)), ['roost.internal:8001'])
})

test('a name server that does not answer delays a round by two seconds at most', async () => {
  const clock = createFakeClock()
  const resolve = () => new Promise<string[]>(() => {})
  const { addresses } = open({ clock, resolve }, ['slow.internal:8001'])
  const found = round(addresses, 2)
  await clock.advance(2000)
  assert.deepEqual(placesOf(await found), ['10.0.0.1:8001', 'slow.internal:8001'])
})

test('addresses of the platform replace those of the environment, and survive a restart', async () => {
  const { addresses, file } = open({}, ['10.0.0.9:8001'])
  addresses.learn(['10.0.0.2:8001', ':8002'])
  const all = ['10.0.0.1:8001', '10.0.0.1:8002', '10.0.0.2:8001']
  assert.deepEqual(placesOf(await round(addresses, 3)), all)
  const again = open({ file }, ['10.0.0.9:8001'])
  assert.deepEqual(placesOf(await round(again.addresses, 3)), all)
})

test('invalid addresses are ignored, and there are at most 32', async () => {
  const { addresses, file } = open()
  addresses.learn(['10.0.0.2:8001', 7, 'http://evil/', 'a\nb:1', '10.0.0.3:0'])
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), ['10.0.0.2:8001'])
  addresses.learn(['nonsense'])
  addresses.learn([])
  assert.deepEqual(placesOf(await round(addresses, 2)), ['10.0.0.1:8001', '10.0.0.2:8001'])
  addresses.learn(Array.from({ length: 100 }, (_, index) => `10.1.0.${index}:1`))
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).length, 32)
  writeFileSync(file, '{ damaged')
  assert.deepEqual(placesOf(await round(open({ file }).addresses, 1)), ['10.0.0.1:8001'])
})

test('there are several addresses only after the platform has named more than one, or a name', () => {
  const { addresses } = open({}, ['10.0.0.9:8001'])
  assert.equal(addresses.hasSeveral(), false)
  addresses.learn([':8001'])
  assert.equal(addresses.hasSeveral(), false)
  addresses.learn([':8001', ':8002'])
  assert.equal(addresses.hasSeveral(), true)
  // A process of the first release names none; then its own address is used directly.
  addresses.learn(undefined)
  assert.equal(addresses.hasSeveral(), false)
  addresses.learn(['roost.internal:8001'])
  assert.equal(addresses.hasSeveral(), true)
})
