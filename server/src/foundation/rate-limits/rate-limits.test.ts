import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Fault, isFault } from '../../kit/fault.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { EphemeralDown } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { createRateLimits, type RateRule, rateRules } from './index.ts'

const rule: RateRule = { name: 'feed', limit: 3, windowSeconds: 60, whenDown: 'open' }

function open() {
  const clock = createTestClock()
  return { clock, limits: createRateLimits({ clock, ephemeral: memoryEphemeral({ clock, log: silentLog }) }) }
}

function openDown() {
  const down = async () => {
    throw new EphemeralDown()
  }
  const clock = createTestClock()
  return { clock, limits: createRateLimits({ clock, ephemeral: { count: down, peek: down, remove: down } }) }
}

async function refusalOf(act: () => Promise<void>): Promise<Fault | null> {
  try {
    await act()
    return null
  } catch (error) {
    assert.ok(isFault(error))
    return error
  }
}

test('429 rate_limited above the limit, with the seconds until the window ends', async () => {
  const { clock, limits } = open()
  for (let i = 0; i < 3; i++) await limits.use(rule, 'wren')
  await clock.advance(20)
  const refused = await refusalOf(() => limits.use(rule, 'wren'))
  assert.equal(refused?.code, 'rate_limited')
  assert.equal(refused?.fields.retry_after_seconds, 40)
  await limits.use(rule, 'rook')
  await clock.advance(40)
  await limits.use(rule, 'wren')
})

test('check counts nothing and refuses when no use is left', async () => {
  const { limits } = open()
  for (let i = 0; i < 5; i++) await limits.check(rule, 'wren')
  for (let i = 0; i < 3; i++) await limits.use(rule, 'wren')
  assert.equal((await refusalOf(() => limits.check(rule, 'wren')))?.code, 'rate_limited')
  await limits.clear(rule, 'wren')
  await limits.check(rule, 'wren')
})

test('a limit per client counts an IPv6 network as one client', async () => {
  const { limits } = open()
  const perClient: RateRule = { ...rule, perClient: true }
  for (let i = 1; i <= 3; i++) await limits.use(perClient, `2001:db8:0:1::${i}`)
  for (const act of [limits.use, limits.check])
    assert.equal((await refusalOf(() => act(perClient, '2001:db8:0:1::4')))?.code, 'rate_limited')
  await limits.use(perClient, '2001:db8:0:2::1')
  await limits.clear(perClient, '2001:db8:0:1::5')
  await limits.use(perClient, '2001:db8:0:1::6')
})

test('three of twenty concurrent uses are allowed', async () => {
  const { limits } = open()
  const refusals = await Promise.all(
    Array.from({ length: 20 }, () => refusalOf(() => limits.use(rule, 'wren'))),
  )
  assert.equal(refusals.filter((refusal) => refusal === null).length, 3)
})

describe('while the store is unavailable', () => {
  test('ordinary limits allow every use', async () => {
    const { limits } = openDown()
    for (let i = 0; i < 10; i++) await limits.use(rule, 'wren')
    await limits.check(rule, 'wren')
    await limits.clear(rule, 'wren')
  })

  test('sign-in limits are counted in this process', async () => {
    const { clock, limits } = openDown()
    const passwords = rateRules.password.each
    for (let i = 0; i < 5; i++) await limits.use(passwords, 'wren')
    const refused = await refusalOf(() => limits.use(passwords, 'wren'))
    assert.equal(refused?.code, 'too_many_attempts')
    assert.equal(refused?.fields.retry_after_seconds, 900)
    await clock.advance(900)
    await limits.use(passwords, 'wren')
    await limits.clear(passwords, 'wren')
    await limits.check(passwords, 'wren')
  })
})

test('rule names are unique', () => {
  const names = Object.values(rateRules)
    .flatMap((rule) => ('each' in rule ? [rule.each, rule.all] : [rule]))
    .map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
})
