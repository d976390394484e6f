import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slackApp, slackEvent, slackHeaders, startSlack } from '@roost/test-support/slack/index'
import { forEachDialect } from '../../test/dialects.ts'
import { agentFact } from '../../test/run-platform.ts'
import { openSlackWorld } from './test/world.ts'

forEachDialect((_name, open) => {
  test('a message becomes a run, and its answer is posted into the thread in Slack’s markup', async () => {
    await using world = await openSlackWorld(open)
    await world.say({ text: 'who &lt;sings&gt;?', ts: '100.1' })
    const run = await world.claim()
    assert.equal(run.message, 'who <sings>?')
    const row = await world.runs.row(run.execution_id)
    assert.deepEqual([row.triggered_by, row.kind, row.source_user_id], ['slack', 'chat', null])
    await world.end(run, { response: 'The **warbler** & <!channel>' })
    const [post] = await world.slack.waitForPosts(1)
    assert.deepEqual(
      [post?.channel, post?.thread_ts, post?.text],
      ['C0001', '100.1', 'The *warbler* &amp; &lt;!channel&gt;'],
    )
    assert.deepEqual([post?.fields.unfurl_links, post?.fields.unfurl_media], ['false', 'false'])
  })

  test('twenty deliveries of one event and its mention start one run', async () => {
    await using world = await openSlackWorld(open)
    const event = slackEvent({ text: 'once', ts: '100.1' })
    const mention = slackEvent({ type: 'app_mention', text: `<@${slackApp.botUserId}> once`, ts: '100.1' })
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => world.deliver(n % 2 === 0 ? event : mention)),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.equal((await world.executions()).length, 1)
    await world.clock.advance(23 * 3600)
    await world.feature.loops.find(({ name }) => name === 'slack.forget')?.run(AbortSignal.any([]))
    assert.equal((await world.deliver(event)).status, 200)
    assert.equal((await world.executions()).length, 1)
    await world.clock.advance(24 * 3600)
    await world.feature.loops.find(({ name }) => name === 'slack.forget')?.run(AbortSignal.any([]))
    assert.deepEqual(await world.rowsOf('slack_events'), [])
  })

  test('a thread is one conversation for all speakers; another thread is another conversation', async () => {
    await using world = await openSlackWorld(open)
    await world.say({ text: 'one', ts: '100.1' })
    const first = await world.claim()
    await world.end(first, { runtime_session_id: 'r1' })
    await Promise.all([
      world.say({ text: 'two', ts: '100.2', thread_ts: '100.1', user: 'U0BEN' }),
      world.say({ text: 'three', ts: '100.3', thread_ts: '100.1' }),
    ])
    const second = await world.claim()
    assert.deepEqual([second.session_id, second.resume_session_id], [first.session_id, 'r1'])
    await world.say({ text: 'other', ts: '200.1' })
    // The third message waits for the second: turns of one conversation are serial.
    const other = await world.claim()
    assert.equal(other.message, 'other')
    assert.notEqual(other.session_id, first.session_id)
    await world.end(second)
    assert.equal((await world.claim()).session_id, first.session_id)
  })

  test('a direct message goes to the default agent, a message in another channel to no agent', async () => {
    await using world = await openSlackWorld(open)
    await world.say({ channel: 'D0001', channel_type: 'im', text: 'psst', ts: '5.1' })
    assert.equal((await world.claim()).message, 'psst')
    await world.say({ channel: 'C0002' })
    await world.say({ subtype: 'message_changed' })
    await world.say({ bot_id: 'B1' })
    assert.equal((await world.executions()).length, 1)
    assert.equal((await world.rowsOf('slack_events')).length, 1)
    await world.bind({ channel_id: 'C0001' })
    await world.say({ channel: 'D0001', channel_type: 'im', text: 'psst', ts: '5.2' })
    assert.equal((await world.executions()).length, 1)
  })

  test('a stopped agent, a full queue and a failed run are reported in the thread in plain words', async () => {
    await using world = await openSlackWorld(open)
    world.runs.agents.set(world.agentId, agentFact({ id: world.agentId, status: 'stopped' }))
    const event = await world.say({ ts: '1.1' })
    await world.deliver(event)
    await world.slack.waitForPosts(1)
    assert.match(world.slack.posted[0]?.text ?? '', /^The agent scout is not running/)
    world.runs.agents.set(world.agentId, agentFact({ id: world.agentId }))
    for (let n = 0; n < 6; n += 1) await world.say({ ts: `2.${n}` })
    await world.slack.waitForPosts(2)
    assert.deepEqual([world.slack.posted[1]?.thread_ts, (await world.executions()).length], ['2.5', 5])
    assert.match(world.slack.posted[1]?.text ?? '', /too much waiting/)
    const failed = { status: 'failed', response: null, error: 'stack trace at /x', error_code: 'timeout' }
    await world.end(await world.claim(), failed)
    await world.slack.waitForPosts(3)
    assert.deepEqual(
      [world.slack.posted[2]?.thread_ts, world.slack.posted[2]?.text],
      ['2.0', 'The answer took too long.'],
    )
    await world.end(await world.claim(), { response: ' ' })
    await world.slack.waitForPosts(4)
    assert.equal(world.slack.posted[3]?.text, 'There is nothing to say to that.')
    await world.end(await world.claim(), { response: '[x]: https://x.y' })
    await world.slack.waitForPosts(5)
    assert.equal(world.slack.posted[4]?.text, '[x]: https://x.y')
  })

  test('more than 30 messages per minute of one user are dropped, with one notice', async () => {
    await using world = await openSlackWorld(open)
    for (let n = 0; n < 33; n += 1) {
      await world.say({ ts: `1.${n}` })
      if (n < 30) await world.end(await world.claim())
    }
    await world.say({ user: 'U0BEN', ts: '2.1' })
    assert.equal((await world.executions()).length, 31)
    await world.slack.waitForPosts(31)
    assert.equal(world.slack.posted.filter(({ text }) => /too many messages/.test(text)).length, 1)
    await world.clock.advance(61)
    await world.say({ ts: '1.99' })
    assert.equal((await world.executions()).length, 32)
  })

  test('401 for requests that Slack did not sign, 404 while Slack is not connected', async () => {
    await using world = await openSlackWorld(open, { isConnected: false })
    const body = JSON.stringify(slackEvent({}))
    const unconnected = await world.send(body)
    assert.deepEqual([unconnected.status, unconnected.json.error], [404, 'feature_disabled'])
    assert.equal((await world.connect()).status, 200)
    const late = new Date(world.clock.now().getTime() - 301_000)
    for (const headers of [
      slackHeaders(body, late),
      slackHeaders(body, world.clock.now(), 'another secret'),
      slackHeaders(`${body} `, world.clock.now()),
      { 'content-type': 'application/json' },
    ]) {
      const { status, json } = await world.send(body, headers)
      assert.deepEqual([status, json.error], [401, 'invalid_signature'])
    }
    assert.equal((await world.send('not json')).json.error, 'invalid_json')
    const challenge = await world.send(
      JSON.stringify({ type: 'url_verification', challenge: 'c1', token: 't' }),
    )
    assert.deepEqual([challenge.status, challenge.json], [200, { challenge: 'c1' }])
    const other = await world.send(JSON.stringify({ type: 'app_rate_limited', minute_rate_limited: 1 }))
    assert.deepEqual([other.status, other.json], [200, { ok: true }])
  })

  test('after a crash the next process posts the answer, once', async () => {
    const slack = await startSlack()
    await using world = await openSlackWorld(open, { slack })
    await world.say({ ts: '1.1' })
    // Slack stores the post, but the process never gets the response.
    slack.mishap('chat.postMessage', { kind: 'lost_answer' })
    await world.end(await world.claim())
    await slack.waitForPosts(1)
    await world.feature.close()
    const [post] = await world.posts()
    assert.equal(post?.state, 'sending')
    await world.clock.advance(91)
    await world.flush()
    assert.deepEqual([slack.posted.length, (await world.posts())[0]?.state], [1, 'sent'])
    assert.equal(slack.calls.at(-1), 'conversations.replies')
    await slack.close()
  })

  test('a rate-limited post waits as long as Slack says; after a failure the thread is searched first', async () => {
    await using world = await openSlackWorld(open)
    await world.say({ ts: '1.1' })
    const { slack, clock } = world
    slack.mishap('chat.postMessage', { kind: 'status', status: 429, retryAfter: 17 })
    slack.mishap('chat.postMessage', { kind: 'status', status: 503 })
    slack.mishap('chat.postMessage', { kind: 'error', error: 'internal_error' })
    await world.end(await world.claim())
    await world.idle()
    await clock.advance(16)
    await world.flush()
    assert.equal(slack.calls.filter((call) => call === 'chat.postMessage').length, 1)
    for (const [seconds, calls] of [
      [1, ['chat.postMessage']],
      [10, ['conversations.replies', 'chat.postMessage']],
    ] as const) {
      const before = slack.calls.length
      await clock.advance(seconds)
      await world.flush()
      assert.deepEqual(slack.calls.slice(before), calls)
    }
    assert.equal(slack.posted.length, 0)
    await clock.advance(20)
    await Promise.all(Array.from({ length: 20 }, () => world.flush()))
    assert.equal(slack.posted.length, 1)
  })

  test('the pieces of a long answer arrive in order, even when one is delayed', async () => {
    await using world = await openSlackWorld(open)
    await world.say({ ts: '1.1' })
    world.slack.mishap('chat.postMessage', { kind: 'status', status: 429, retryAfter: 5 })
    const response = Array.from({ length: 30 }, (_, n) => `${n} ${'x'.repeat(300)}`).join('\n\n')
    await world.end(await world.claim(), { response })
    await world.idle()
    assert.equal(world.slack.posted.length, 0)
    await world.clock.advance(5)
    await world.flush()
    assert.equal(world.slack.posted.map(({ text }) => text).join('\n\n'), response)
    assert.equal(world.slack.posted.length, 3)
  })

  test('a permanently refused post is not retried and does not block others', async () => {
    await using world = await openSlackWorld(open)
    await world.say({ ts: '1.1' })
    world.slack.mishap('chat.postMessage', { kind: 'error', error: 'is_archived' })
    await world.end(await world.claim(), { response: `${'a '.repeat(3000)}` })
    await world.idle()
    assert.deepEqual(
      (await world.posts()).map(({ state }) => state),
      ['failed', 'sent'],
    )
    const before = world.slack.calls.length
    await world.clock.advance(3600)
    await world.flush()
    assert.equal(world.slack.calls.length, before)
  })

  test('a thread with more posts than one pass reads delays no other thread', async () => {
    await using world = await openSlackWorld(open)
    const now = world.clock.now().toISOString()
    const later = new Date(world.clock.now().getTime() + 60_000).toISOString()
    await world.addPosts(
      Array.from({ length: 600 }, (_, part) => ({
        ...{ id: `p${part}`, agent_id: world.agentId, channel_id: 'C0001', thread_ts: '0.1' },
        ...{ execution_id: 'e', part, text: `part ${part}`, state: 'waiting' as const },
        ...{ attempts: 0, created_at: now, due_at: part === 0 ? later : now },
      })),
    )
    await world.clock.advance(1)
    await world.say({ ts: '1.1' })
    await world.end(await world.claim())
    await world.idle()
    assert.deepEqual(
      world.slack.posted.map(({ text }) => text),
      ['hello'],
    )
  })

  test('another channel, and unbinding, end the runs that came from the old one', async () => {
    await using world = await openSlackWorld(open)
    const states = async () => {
      const rows = await Promise.all((await world.executions()).map(({ id }) => world.run(id)))
      return rows.map((row) => [row?.status, row?.error_code])
    }
    await world.say({ ts: '1.1' })
    await world.bind({ channel_id: 'C0001' })
    assert.deepEqual(await states(), [['queued', null]])
    await world.bind({ channel_id: 'C0002' })
    assert.deepEqual(await states(), [['cancelled', 'access_ended']])
    await world.say({ ts: '2.1', channel: 'C0002' })
    assert.equal(
      (await world.request(world.owner.key, 'DELETE', '/api/agents/scout/slack/channel')).status,
      200,
    )
    assert.deepEqual((await states()).sort(), [
      ['cancelled', 'access_ended'],
      ['cancelled', 'access_ended'],
    ])
  })

  test('a rename keeps channel and threads; a deletion removes them', async () => {
    await using world = await openSlackWorld(open)
    await world.say({ ts: '1.1' })
    const run = await world.claim()
    await world.end(run)
    await world.slack.waitForPosts(1)
    const renamed = await world.request(world.owner.key, 'PUT', '/api/agents/scout/rename', {
      new_name: 'wren',
    })
    assert.equal(renamed.status, 200)
    world.runs.agents.set(world.agentId, agentFact({ id: world.agentId, name: 'wren' }))
    await world.say({ ts: '1.2', thread_ts: '1.1' })
    assert.equal((await world.claim()).session_id, run.session_id)
    assert.equal((await world.request(world.owner.key, 'DELETE', '/api/agents/wren')).status, 200)
    for (const table of ['slack_channels', 'slack_threads', 'slack_posts'] as const) {
      assert.deepEqual(await world.rowsOf(table), [], table)
    }
    await world.say({ ts: '1.3', thread_ts: '1.1' })
  })
})
