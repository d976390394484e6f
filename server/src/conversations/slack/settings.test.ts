import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slackApp } from '@roost/test-support/slack/index'
import { forEachDialect } from '../../test/dialects.ts'
import { openSlackWorld } from './test/world.ts'

forEachDialect((_name, open) => {
  test('the app is connected when Slack knows its token; secrets are sealed and never shown', async () => {
    await using world = await openSlackWorld(open, { isConnected: false })
    const call = (method: string, body?: object) =>
      world.request(world.admin.key, method, '/api/settings/slack', body)
    const none = { configured: false, workspace_name: null, bot_user: null }
    assert.deepEqual((await call('GET')).json, none)
    const given = { signing_secret: slackApp.signingSecret, bot_token: slackApp.token }
    const connected = { configured: true, workspace_name: 'Nest', bot_user: 'roost' }
    assert.deepEqual((await call('PUT', given)).json, connected)
    assert.deepEqual((await call('GET')).json, connected)
    const rows = JSON.stringify(await world.rowsOf('slack_connections'))
    assert.ok(!rows.includes(given.signing_secret) && !rows.includes(given.bot_token))
    assert.deepEqual((await call('DELETE')).json, none)
    assert.deepEqual((await call('GET')).json, none)
    assert.deepEqual(world.noted, ['Nest', null])
  })

  test('422 for a token that Slack refuses or that is no bot’s, 502 while Slack is away, 403 for others', async () => {
    await using world = await openSlackWorld(open, { isConnected: false })
    const put = (body: object, key = world.admin.key) =>
      world.request(key, 'PUT', '/api/settings/slack', body)
    const secret = slackApp.signingSecret
    const refused = await put({ signing_secret: secret, bot_token: 'xoxb-wrong' })
    assert.deepEqual([refused.status, refused.json.detail[0].loc], [422, ['body', 'bot_token']])
    assert.match(refused.json.detail[0].msg, /invalid_auth/)
    assert.equal((await put({ signing_secret: secret, bot_token: 'xoxp-a-person' })).status, 422)
    assert.equal((await put({ signing_secret: 'short', bot_token: slackApp.token })).status, 422)
    world.slack.mishap('auth.test', { kind: 'status', status: 500 })
    assert.equal((await world.connect()).json.error, 'upstream_error')
    assert.equal(
      (await put({ signing_secret: secret, bot_token: slackApp.token }, world.owner.key)).status,
      403,
    )
    assert.deepEqual(await world.rowsOf('slack_connections'), [])
  })

  test('an agent has one channel, a channel one agent, and one agent the direct messages', async () => {
    await using world = await openSlackWorld(open)
    const path = '/api/agents/scout/slack/channel'
    const bound = { bound: true, channel_id: 'C0001', channel_name: 'team', is_dm_default: true }
    assert.deepEqual((await world.request(world.owner.key, 'GET', path)).json, bound)
    await world.addAgent('wren')
    for (const body of [{ channel_id: 'C0001' }, { channel_id: 'C0002', is_dm_default: true }]) {
      const taken = await world.bind(body, 'wren')
      assert.deepEqual([taken.status, taken.json.error], [409, 'already_exists'])
    }
    assert.equal((await world.bind({ channel_id: 'C0002' })).json.is_dm_default, false)
    assert.deepEqual((await world.bind({ channel_id: 'C0001', is_dm_default: true }, 'wren')).json, bound)
    const unbound = await world.request(world.owner.key, 'DELETE', path)
    const none = { bound: false, channel_id: null, channel_name: null, is_dm_default: false }
    assert.deepEqual([unbound.status, unbound.json], [200, none])
    assert.equal((await world.bind({ channel_id: 'C0002' }, 'wren')).status, 200)
  })

  test('twenty agents ask for one channel at once: one gets it', async () => {
    await using world = await openSlackWorld(open)
    await world.addAgent('wren')
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        world.bind({ channel_id: 'C0002' }, n % 2 === 0 ? 'scout' : 'wren'),
      ),
    )
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    assert.equal(
      (await world.rowsOf('slack_channels')).filter(
        (row) => 'channel_id' in row && row.channel_id === 'C0002',
      ).length,
      1,
    )
  })

  test('a channel must be known to the bot and have it in; the system agent answers in none', async () => {
    await using world = await openSlackWorld(open)
    const messages: [object, RegExp][] = [
      [{ channel_id: 'C0009' }, /channel_not_found/],
      [{ channel_id: 'C0003' }, /invite it/],
      [{ channel_id: '#team' }, /id of a channel/],
    ]
    for (const [body, words] of messages) {
      const { status, json } = await world.bind(body)
      assert.equal(status, 422)
      assert.match(json.detail[0].msg, words)
    }
    world.slack.mishap('conversations.info', { kind: 'error', error: 'missing_scope' })
    assert.equal((await world.bind({ channel_id: 'C0001' })).json.channel_name, null)
    const system = await world.request(world.admin.key, 'PUT', '/api/agents/roost-system/slack/channel', {
      channel_id: 'C0002',
    })
    assert.deepEqual([system.status, system.json.error], [403, 'system_agent_protected'])
    await world.request(world.admin.key, 'DELETE', '/api/settings/slack')
    assert.equal((await world.bind({ channel_id: 'C0001' })).json.error, 'feature_disabled')
  })
})
