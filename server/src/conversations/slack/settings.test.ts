import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slackApp } from '@roost/test-support/slack/index'
import { forEachDialect } from '../../test/dialects.ts'
import { openSlackWorld } from './test/world.ts'

forEachDialect((_name, open) => {
  test('PUT connects the app when Slack accepts its token; secrets are sealed and never returned', async () => {
    await using world = await openSlackWorld(open, { isConnected: false })
    const call = (method: string, body?: object) =>
      world.request(world.admin.key, method, '/api/settings/slack', body)
    const empty = { configured: false, workspace_name: null, bot_user: null }
    assert.deepEqual((await call('GET')).json, empty)
    const secrets = { signing_secret: slackApp.signingSecret, bot_token: slackApp.token }
    const connected = { configured: true, workspace_name: 'Nest', bot_user: 'roost' }
    assert.deepEqual((await call('PUT', secrets)).json, connected)
    assert.deepEqual((await call('GET')).json, connected)
    const rows = JSON.stringify(await world.rowsOf('slack_connections'))
    assert.ok(!rows.includes(secrets.signing_secret) && !rows.includes(secrets.bot_token))
    assert.deepEqual((await call('DELETE')).json, empty)
    assert.deepEqual((await call('GET')).json, empty)
    assert.deepEqual(world.notedWorkspaces, ['Nest', null])
  })

  test('422 for a token that Slack refuses or that is not a bot token, 502 while Slack is unreachable, 403 for others', async () => {
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

  test('an agent has one channel, a channel one agent, and one agent gets the direct messages', async () => {
    await using world = await openSlackWorld(open)
    const path = '/api/agents/scout/slack/channel'
    const bound = { bound: true, channel_id: 'C0001', channel_name: 'team', is_dm_default: true }
    assert.deepEqual((await world.request(world.owner.key, 'GET', path)).json, bound)
    await world.addAgent('wren')
    for (const body of [{ channel_id: 'C0001' }, { channel_id: 'C0002', is_dm_default: true }]) {
      const conflict = await world.bind(body, 'wren')
      assert.deepEqual([conflict.status, conflict.json.error], [409, 'already_exists'])
    }
    assert.equal((await world.bind({ channel_id: 'C0002' })).json.is_dm_default, false)
    assert.deepEqual((await world.bind({ channel_id: 'C0001', is_dm_default: true }, 'wren')).json, bound)
    const unbound = await world.request(world.owner.key, 'DELETE', path)
    const empty = { bound: false, channel_id: null, channel_name: null, is_dm_default: false }
    assert.deepEqual([unbound.status, unbound.json], [200, empty])
    assert.equal((await world.bind({ channel_id: 'C0002' }, 'wren')).status, 200)
  })

  test('twenty agents bind one channel concurrently: one succeeds', async () => {
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

  test('422 for an unknown channel or one without the bot, 403 for the system agent', async () => {
    await using world = await openSlackWorld(open)
    const messages: [object, RegExp][] = [
      [{ channel_id: 'C0009' }, /channel_not_found/],
      [{ channel_id: 'C0003' }, /invite it/],
      [{ channel_id: '#team' }, /must be a channel id/],
    ]
    for (const [body, pattern] of messages) {
      const { status, json } = await world.bind(body)
      assert.equal(status, 422)
      assert.match(json.detail[0].msg, pattern)
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
