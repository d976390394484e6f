import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import {
  clearFromPlace,
  createRateLimits,
  networkOf,
  type Place,
  type RateRule,
  useFromPlace,
} from './index.ts'

const ruleOf = (name: string, limit: number): RateRule => ({
  name,
  limit,
  windowSeconds: 60,
  whenDown: 'open',
})
const rule = { each: ruleOf('door', 2), all: ruleOf('door-all', 5) }
const at = (ip: string, device: string | null = null): Place => ({ ip, device })

function open() {
  const clock = createTestClock()
  const limits = createRateLimits({ clock, ephemeral: memoryEphemeral({ clock, log: silentLog }) })
  const isAllowed = async (place: Place, subject = 'ann') => {
    try {
      await useFromPlace(limits, rule, subject, place)
      return true
    } catch (error) {
      assert.ok(isFault(error, 'rate_limited'))
      return false
    }
  }
  return { limits, isAllowed }
}

test('a place above its limit does not count for the others', async () => {
  const { isAllowed } = open()
  for (let i = 0; i < 10; i++) assert.equal(await isAllowed(at('192.0.2.1')), i < 2)
  for (let i = 0; i < 2; i++) assert.equal(await isAllowed(at('192.0.2.2')), true)
  assert.equal(await isAllowed(at('192.0.2.3')), true)
  assert.equal(await isAllowed(at('192.0.2.4')), false)
  assert.equal(await isAllowed(at('192.0.2.4'), 'bob'), true)
})

test('strangers and known devices do not use up the attempts of each other', async () => {
  const { isAllowed } = open()
  for (let i = 0; i < 10; i++) await isAllowed(at(`192.0.2.${i}`))
  assert.equal(await isAllowed(at('192.0.2.1', 'laptop')), true)
  for (let i = 0; i < 10; i++) await isAllowed(at('192.0.2.1', `device-${i}`))
  assert.equal(await isAllowed(at('192.0.2.1', 'phone')), false)
})

test('a success resets the counts of its place and of all of its kind', async () => {
  const { limits, isAllowed } = open()
  for (let i = 0; i < 6; i++) await isAllowed(at(`192.0.2.${i}`))
  assert.equal(await isAllowed(at('192.0.2.9')), false)
  await clearFromPlace(limits, rule, 'ann', at('192.0.2.0'))
  assert.equal(await isAllowed(at('192.0.2.9')), true)
})

test('an IPv6 host counts as its /64 network, an IPv4 host as itself', () => {
  for (const [ip, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:1::1', '2001:db8:0:1::/64'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:0db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
    ['not an address', 'not an address'],
  ] as const)
    assert.equal(networkOf(ip), network, ip)
})
