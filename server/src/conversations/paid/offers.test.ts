import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paidNetworks } from '@roost/contracts/conversations/paid-networks'
import { officialNetwork } from '@roost/test-support/payments/index'
import { forEachDialect } from '../../test/dialects.ts'
import { offer, openPaidWorld, payTo } from './test/world.ts'

const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

forEachDialect((_, open) => {
  test('an agent has no offer before the owner sets one and after it is deleted', async () => {
    await using world = await openPaidWorld(open)
    const { manage } = world
    const empty = { price_usd: null, pay_to: null, network: null, asset: null, description: null }
    const blank = {
      agent_name: 'scout',
      enabled: false,
      ...empty,
      url: 'https://roost.example/api/paid/scout/chat',
    }
    assert.deepEqual((await manage('GET', '/paid')).json, blank)
    const set = { ...offer, price_usd: 0.123456, description: '  All about owls. ' }
    const stored = { ...blank, ...set, asset: usdc, description: 'All about owls.' }
    assert.deepEqual((await manage('PUT', '/paid', set)).json, stored)
    assert.deepEqual((await manage('GET', '/paid')).json, stored)
    const info = (await world.info()).json()
    assert.deepEqual(
      [info.price_usd, info.description, info.resource, info.accepts[0].amount],
      [0.123456, 'All about owls.', blank.url, '123456'],
    )
    // PUT replaces the whole offer: omitted fields are cleared.
    assert.deepEqual((await manage('PUT', '/paid', offer)).json, { ...blank, ...offer, asset: usdc })
    assert.equal((await manage('DELETE', '/paid')).status, 200)
    assert.deepEqual((await manage('GET', '/paid')).json, blank)
    assert.equal((await world.info()).statusCode, 404)
  })

  test('422 names the field and the rule, and changes nothing', async () => {
    await using world = await openPaidWorld(open)
    const wrong: [object, string, RegExp][] = [
      [{ price_usd: 0 }, 'price_usd', /0\.000001/],
      [{ price_usd: 1000.01 }, 'price_usd', /1000/],
      [{ price_usd: 0.0000015 }, 'price_usd', /6 decimals/],
      [{ price_usd: '1' }, 'price_usd', /number/],
      [{ pay_to: '0x12' }, 'pay_to', /address/],
      [{ pay_to: `0x${'0'.repeat(40)}` }, 'pay_to', /zero/],
      [{ pay_to: payTo.replace('Bc', 'bC') }, 'pay_to', /checksum/],
      [{ network: 'base' }, 'network', /CAIP-2/],
      [{ network: 'eip155:2' }, 'network', /eip155:8453 \(Base\)/],
      [{ network: 'eip155:8453' }, 'network', /facilitator, which takes eip155:84532, base-sepolia/],
      [{ asset: payTo }, 'asset', /USDC/],
      [{ description: 'x'.repeat(501) }, 'description', /500/],
      [{ enabled: undefined }, 'enabled', /required/],
    ]
    for (const [change, field, rule] of wrong) {
      const { status, json } = await world.manage('PUT', '/paid', { ...offer, ...change })
      assert.deepEqual([status, json.error], [422, 'validation_error'], JSON.stringify(change))
      assert.deepEqual(
        [json.detail[0].loc.at(-1), rule.test(json.detail[0].msg)],
        [field, true],
        json.detail[0].msg,
      )
    }
    assert.equal((await world.manage('GET', '/paid')).json.price_usd, null)
    // A disabled offer or an unreachable facilitator does not block the change.
    const other = { ...offer, network: 'eip155:8453' }
    assert.equal((await world.manage('PUT', '/paid', { ...other, enabled: false })).status, 200)
    await world.facilitator[Symbol.asyncDispose]()
    assert.equal((await world.manage('PUT', '/paid', other)).status, 200)
  })

  test('owner only: 403 for others and for the agent when it sets its own price, 404 for strangers', async () => {
    await using world = await openPaidWorld(open)
    const as = async (who: string) => [
      (await world.manage('GET', '/paid', undefined, who)).status,
      (await world.manage('GET', '/payments', undefined, who)).status,
      (await world.manage('PUT', '/paid', offer, who)).status,
      (await world.manage('DELETE', '/paid', undefined, who)).status,
    ]
    assert.deepEqual(await as('ann'), [200, 200, 200, 200])
    assert.deepEqual(await as('bob'), [403, 403, 403, 403])
    assert.deepEqual(await as('agent'), [200, 200, 403, 403])
    assert.deepEqual(await as('stranger'), [404, 404, 404, 404])
  })

  test('payments are listed newest first and are deleted with their agent', async () => {
    await using world = await openPaidWorld(open)
    await world.manage('PUT', '/paid', offer)
    const payer = world.facilitator.payer()
    const required = await world.required()
    await world.send({ message: 'one' }, await payer.pay(required))
    await world.clock.advance(1)
    await world.send({ message: 'two' }, await world.facilitator.payer(1n).pay(required))
    const [reject, ...rest] = await world.payments()
    const { action, success, execution_id, transaction, amount, asset, network } = reject
    assert.deepEqual([action, success, execution_id, transaction], ['reject', false, null, null])
    assert.deepEqual([amount, asset, network], ['1000', usdc, 'eip155:84532'])
    assert.deepEqual(
      rest.map(({ success, payer }) => [success, payer?.toLowerCase()]),
      [
        [true, payer.address.toLowerCase()],
        [true, payer.address.toLowerCase()],
      ],
    )
    assert.equal(
      rest.find((each) => each.action === 'settle').transaction,
      world.facilitator.transfers[0]?.transaction,
    )
    assert.equal((await world.manage('GET', '/payments?limit=1')).json.length, 1)
    assert.equal((await world.manage('GET', '/payments?limit=501')).status, 422)

    await world.db.atomically(async (tx) => {
      const db = tx.withTables<{ agents: { id: string } }>()
      await db.deleteFrom('agents').where('id', '=', 'a1').execute()
    })
    for (const table of ['paid_chats', 'paid_turns', 'paid_proofs', 'payments'] as const) {
      const db = world.db.withTables<Record<typeof table, { rowid: number }>>()
      assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [], table)
    }
  })
})

test('networks match x402, including their USDC and their version 1 names', () => {
  for (const { network, v1, usdc } of paidNetworks)
    assert.deepEqual(officialNetwork(network), { v1, usdc, takesSignedTransfers: true }, network)
})
