import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { voiceFrameLimit } from '@roost/contracts/conversations/voice'
import { until } from '../../agents/test/world.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { type Message, openVoiceWorld, type VoiceWorld } from './test/world.ts'

const isEnded = ({ type, state }: Message) => type === 'status' && state === 'ended'
const codeOf = async (world: VoiceWorld, path: string) => {
  await using client = await world.dial(path)
  return (await client.closed).code
}

describe('start', () => {
  test('503 not_configured without a voice key, and the status reports it', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    world.key.value = null
    const reply = await world.request(world.owner.key, 'POST', '/start', {})
    assert.deepEqual([reply.status, reply.json.error], [503, 'not_configured'])
    const { enabled, available } = (await world.request(world.owner.key, 'GET', '/status')).json
    assert.deepEqual([enabled, available], [false, false])
  })

  test('503 agent_not_running for a stopped agent', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const agentContext = world.runs.agents.get(world.agentId) ?? assert.fail('the agent is known')
    world.runs.agents.set(world.agentId, { ...agentContext, status: 'stopped' })
    const reply = await world.request(world.owner.key, 'POST', '/start', {})
    assert.deepEqual([reply.status, reply.json.error], [503, 'agent_not_running'])
  })

  test("404 session_not_found for another person's conversation", async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { chat_session_id } = await world.start()
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const reply = await world.request(bob.key, 'POST', '/start', { session_id: chat_session_id })
    assert.deepEqual([reply.status, reply.json.error], [404, 'session_not_found'])
  })

  test('422 for an unknown voice', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const reply = await world.request(world.owner.key, 'POST', '/start', { voice_name: 'Nobody' })
    assert.deepEqual([reply.status, reply.json.detail[0].loc], [422, ['body', 'voice_name']])
  })

  test("stop returns 404 for another person's call", async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { voice_session_id } = await world.start()
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const reply = await world.request(bob.key, 'POST', '/stop', { voice_session_id })
    assert.deepEqual([reply.status, reply.json.error], [404, 'session_not_found'])
  })

  test('403 owner_required when a person with shared access sets the voice', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const reply = await world.request(bob.key, 'PUT', '/name', { voice_name: 'Puck' })
    assert.deepEqual([reply.status, reply.json.error], [403, 'owner_required'])
  })
})

forEachDialect((_, open) => {
  test('409 turn_in_progress during a turn; of twenty concurrent starts one call remains', async () => {
    await using world = await openVoiceWorld(open)
    const chat = world.request(world.owner.key, 'POST', '/api/agents/scout/chat', { message: 'hello' })
    const run = await world.claim()
    const refused = await world.request(world.owner.key, 'POST', '/start', {})
    assert.deepEqual([refused.status, refused.json.error], [409, 'turn_in_progress'])
    assert.equal(refused.json.execution_id, run.execution_id)
    await world.finish(run)
    await chat
    const all = await Promise.all(
      Array.from({ length: 20 }, () => world.request(world.owner.key, 'POST', '/start', {})),
    )
    assert.deepEqual([...new Set(all.map(({ status }) => status))], [200])
    const rows = await world.calls()
    assert.equal(rows.filter(({ ended_at }) => ended_at === null).length, 1)
    assert.equal(rows.filter(({ end_reason }) => end_reason === 'replaced').length, 19)
  })

  test('of twenty concurrent uses of a ticket one opens the call', async () => {
    await using world = await openVoiceWorld(open)
    const { websocket_url } = await world.start()
    const clients = await Promise.all(Array.from({ length: 20 }, () => world.dial(websocket_url)))
    await world.live.session()
    const codes = await Promise.all(
      clients.map((client) => client.next('status').catch(async () => (await client.closed).code)),
    )
    assert.equal(codes.filter((code) => code === 4001).length, 19)
    for (const client of clients) client.cut()
  })
})

describe('the socket', () => {
  test('4001 for an unknown, used or expired ticket', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const first = await world.start()
    assert.equal(await codeOf(world, `/ws/voice/${first.voice_session_id}?ticket=none`), 4001)
    assert.equal(await codeOf(world, `/ws/voice/${first.voice_session_id}`), 4001)
    await world.clock.advance(61)
    assert.equal(await codeOf(world, first.websocket_url), 4001)
    await assert.rejects(world.dial('/ws/voice/'), /404/)
    await assert.rejects(world.dial('/ws/voice/a/b'), /404/)
  })

  test("4003 for another person's call, 4001 for another own call, 4004 for an unknown call", async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const { voice_session_id } = await world.start()
    const ticket = (await world.start(bob.key)).websocket_url.split('?')[1]
    assert.equal(await codeOf(world, `/ws/voice/${voice_session_id}?${ticket}`), 4003)
    const before = await world.start()
    const other = (await world.start()).websocket_url.split('?')[1]
    assert.equal(await codeOf(world, `/ws/voice/${before.voice_session_id}?${other}`), 4001)
    const third = (await world.start()).websocket_url.split('?')[1]
    assert.equal(await codeOf(world, `/ws/voice/unknown?${third}`), 4004)
  })

  test('4004 for an ended call, 4003 after access to the agent was removed', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { voice_session_id, websocket_url } = await world.start()
    await world.request(world.owner.key, 'POST', '/stop', { voice_session_id })
    assert.equal(await codeOf(world, websocket_url), 4004)
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const shared = await world.start(bob.key)
    await world.unshare('bob@example.org')
    assert.equal(await codeOf(world, shared.websocket_url), 4003)
  })

  test('an unreadable frame gets an error; many of them, or an oversized one, end the call', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const first = await world.call()
    for (const frame of [
      '{',
      '{"type":"video"}',
      '{"type":"audio","data":"*"}',
      '{"type":"audio","data":"AA=="}',
    ]) {
      first.client.send(frame)
      const { error, detail } = await first.client.next('error')
      assert.equal(error, 'validation_error')
      assert.ok(detail.length > 5)
    }
    for (let count = 4; count < 20; count += 1) first.client.send('{')
    assert.equal((await first.client.next(isEnded)).reason, 'bad_frames')
    assert.equal((await first.client.closed).code, 1008)
    const second = await world.call()
    second.client.send(JSON.stringify({ type: 'audio', data: 'A'.repeat(voiceFrameLimit * 2) }))
    assert.equal((await second.client.closed).code, 1009)
    await world.expectEnded(second.id, 'disconnected')
  })
})

describe('a call ends', () => {
  test('after 30 minutes', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { client, model } = await world.call()
    await world.clock.waitingFor(1800)
    for (let passed = 30; passed < 1800; passed += 30) {
      await world.clock.advance(30)
      // Keeps the connection alive; the model's event confirms that the message arrived.
      client.send('{"type":"end"}')
      await model.next('audioStreamEnd')
    }
    await world.clock.advance(30)
    assert.equal((await client.next(isEnded)).reason, 'time_limit')
  })

  test('when the client stops responding', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { id, client } = await world.call()
    client.deaf()
    for (let count = 0; count < 3; count += 1) {
      await world.clock.waitingFor(30)
      await world.clock.advance(30)
    }
    await world.expectEnded(id, 'slow_client')
  })

  test('immediately when the person loses access', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const { client } = await world.call(bob.key)
    await world.unshare('bob@example.org')
    world.accessRevocation.recheck({ id: world.agentId, name: 'scout' })
    assert.equal((await client.next(isEnded)).reason, 'access_lost')
    assert.equal((await client.closed).code, 4003)
  })

  test('when the provider disconnects or refuses, keeping what was said', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const lost = await world.call()
    lost.model.hear('Are you there?')
    lost.model.cut()
    assert.equal((await lost.client.next(isEnded)).reason, 'provider_lost')
    assert.deepEqual(
      (await world.messages(lost.chat_session_id)).map(({ content }) => content),
      ['Are you there?'],
    )
    world.live.refuseWith(403)
    const { websocket_url } = await world.start()
    await using refused = await world.dial(websocket_url)
    assert.equal((await refused.next(isEnded)).reason, 'provider_refused')
    assert.equal((await refused.closed).code, 1011)
  })

  test('when the person starts a new call', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { client } = await world.call()
    await world.start()
    assert.equal((await client.next(isEnded)).reason, 'replaced')
  })

  test('when the platform stops; an abandoned call is swept', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { id, client } = await world.call()
    const abandoned = await world.start((await world.person('admin', 'root@example.org')).key)
    await world.voice.close()
    assert.equal((await client.next(isEnded)).reason, 'platform_stopping')
    assert.equal((await client.closed).code, 1001)
    await world.expectEnded(id, 'platform_stopping')
    await world.clock.advance(61)
    await world.voice.calls.sweep()
    await world.expectEnded(abandoned.voice_session_id, 'not_answered')
  })

  test('a database outage during the call loses no line', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { model, client, chat_session_id } = await world.call()
    const restore = world.breakDatabase()
    model.hear('Keep this.')
    model.speak('I will.')
    await client.next(
      ({ type, role, final }: Message) => type === 'transcript' && role === 'assistant' && final,
    )
    await world.clock.waitingFor(1)
    restore()
    await world.clock.advance(1)
    await until(async () => (await world.messages(chat_session_id)).length === 2, 'both lines are stored')
    assert.deepEqual(
      (await world.messages(chat_session_id)).map(({ content }) => content),
      ['Keep this.', 'I will.'],
    )
  })

  test('the voice gets the reason why the agent does not answer', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { model, client } = await world.call()
    for (const [args, pattern] of [
      [{ message: ' ' }, /1 to 8000/],
      [{}, /1 to 8000/],
    ] as const) {
      model.call('c1', 'ask_agent', args)
      const { functionResponses } = await model.next('toolResponse')
      assert.match(functionResponses[0].response.error, pattern)
    }
    model.call('c2', 'ask_agent', { message: 'work' })
    await world.finish(await world.claim(), {
      status: 'failed',
      response: null,
      error: 'No more.',
      error_code: 'timeout',
    })
    const { functionResponses } = await model.next('toolResponse')
    assert.deepEqual(functionResponses[0].response, { error: 'No more.' })
    const results = client.messages.filter(({ type }) => type === 'tool_result')
    assert.deepEqual(
      results.map(({ ok }) => ok),
      [false, false, false],
    )
  })
})
