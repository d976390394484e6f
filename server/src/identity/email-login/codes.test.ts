import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createEmailCodes } from './codes.ts'

const email = 'ann@example.com'

forEachDialect((_name, open) => {
  async function start() {
    const db = await open()
    const clock = createTestClock('2030-01-01T00:00:00.000Z')
    const codes = createEmailCodes({ db, clock, vault: createThrowawayVault() })
    return {
      db,
      clock,
      codes,
      mint: (purpose = 'door', ip = '192.0.2.1') => codes.mint(db, targetOf(purpose, ip)),
      redeem: (code: string | null, purpose = 'door', ip = '192.0.2.1') =>
        db.atomically((tx) => codes.redeem(tx, targetOf(purpose, ip), code)),
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    }
  }
  const targetOf = (purpose: string, ip: string) => ({ purpose, email, place: { ip, device: null } })
  const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

  test('a code has six digits and works once', async () => {
    await using it = await start()
    const code = await it.mint()
    assert.match(code, /^\d{6}$/)
    assert.equal(await it.redeem(` ${code.slice(0, 3)}-${code.slice(3)} `), true)
    assert.equal(await it.redeem(code), false)
  })

  test('of twenty concurrent uses of one code, one succeeds', async () => {
    await using it = await start()
    const code = await it.mint()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => it.redeem(code)))
    assert.equal(outcomes.filter(Boolean).length, 1)
  })

  test('a code expires after ten minutes', async () => {
    await using it = await start()
    const code = await it.mint()
    it.clock.set('2030-01-01T00:10:00.000Z')
    assert.equal(await it.redeem(code), false)
    const next = await it.mint()
    it.clock.set('2030-01-01T00:19:59.999Z')
    assert.equal(await it.redeem(next), true)
  })

  test('a code survives four wrong tries, not five', async () => {
    await using it = await start()
    for (const [tries, opens] of [
      [4, true],
      [5, false],
    ] as const) {
      const code = await it.mint()
      for (let i = 0; i < tries; i++) assert.equal(await it.redeem(wrong(code)), false)
      assert.equal(await it.redeem(code), opens, `${tries} wrong`)
    }
  })

  test('wrong tries elsewhere do not lock a code where it was requested', async () => {
    await using it = await start()
    const code = await it.mint()
    for (let i = 0; i < 30; i++) assert.equal(await it.redeem(wrong(code), 'door', '192.0.2.2'), false)
    assert.equal(await it.redeem(code, 'door', '192.0.2.2'), false)
    assert.equal(await it.redeem(code), true)
  })

  test('a code is valid elsewhere until 25 tries, or until a newer one is requested', async () => {
    await using it = await start()
    for (const [tries, opens] of [
      [24, true],
      [25, false],
    ] as const) {
      const code = await it.mint()
      for (let i = 0; i < tries; i++) await it.redeem(wrong(code), 'door', '192.0.2.2')
      assert.equal(await it.redeem(code, 'door', '192.0.2.3'), opens, `${tries} wrong`)
    }
    const first = await it.mint()
    let second = await it.mint('door', '192.0.2.2')
    while (second === first) second = await it.mint('door', '192.0.2.2')
    assert.equal(await it.redeem(first, 'door', '192.0.2.3'), false)
    assert.equal(await it.redeem(first), true, 'still valid where it was requested')
    assert.equal(await it.redeem(second, 'door', '192.0.2.2'), false, 'one use voids all')
  })

  test('of concurrent uses at several places, one succeeds', async () => {
    await using it = await start()
    const code = await it.mint()
    const uses = Array.from({ length: 20 }, (_, i) => it.redeem(code, 'door', `192.0.2.${i % 4}`))
    assert.equal((await Promise.all(uses)).filter(Boolean).length, 1)
  })

  test('a newer code replaces the older one and resets its tries', async () => {
    await using it = await start()
    const first = await it.mint()
    for (let i = 0; i < 5; i++) await it.redeem(wrong(first))
    let second = await it.mint()
    while (second === first) second = await it.mint()
    assert.equal(await it.redeem(first), false)
    assert.equal(await it.redeem(second), true)
  })

  test('a code is valid for its own purpose only', async () => {
    await using it = await start()
    const code = await it.mint('one')
    assert.equal(await it.redeem(code, 'other'), false)
    assert.equal(await it.redeem(code, 'one'), true)
  })

  test('a null code never matches', async () => {
    await using it = await start()
    await it.mint()
    assert.equal(await it.redeem(null), false)
    assert.equal(await it.redeem(''), false)
  })

  test('the sweep removes expired codes only', async () => {
    await using it = await start()
    await it.mint('old')
    it.clock.set('2030-01-01T00:10:00.000Z')
    const code = await it.mint('new')
    for (const loop of it.codes.loops) await loop.run(new AbortController().signal)
    assert.equal(await it.redeem(code, 'new'), true)
    const remaining = await it.db
      .withTables<{ email_codes: { purpose: string } }>()
      .selectFrom('email_codes')
      .select('purpose')
      .execute()
    assert.deepEqual(remaining, [])
  })
})
