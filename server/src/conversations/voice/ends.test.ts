import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { voiceFrameLimit } from '@roost/contracts/conversations/voice'
import { until } from '../../agents/test/world.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { type Message, openVoiceWorld, type VoiceWorld } from './test/world.ts'

const ended = ({ type, state }: Message) => type === 'status' && state === 'ended'
const codeOf = async (world: VoiceWorld, path: string) => {
  await using client = await world.dial(path)
  return (await client.closed).code
}

describe('starting', () => {
  test('503 not_configured without a key for voices, and the status says so', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    world.key.value = null
    const reply = await world.request(world.owner.key, 'POST', '/start', {})
    assert.deepEqual([reply.status, reply.json.error], [503, 'not_configured'])
    const { enabled, available } = (await world.request(world.owner.key, 'GET', '/status')).json
    assert.deepEqual([enabled, available], [false, false])
  })

  test('503 agent_not_running for an agent that is stopped', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const fact = world.runs.agents.get(world.agentId) ?? assert.fail('the agent is known')
    world.runs.agents.set(world.agentId, { ...fact, status: 'stopped' })
    const reply = await world.request(world.owner.key, 'POST', '/start', {})
    assert.deepEqual([reply.status, reply.json.error], [503, 'agent_not_running'])
  })

  test('404 session_not_found for a conversation of somebody else', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { chat_session_id } = await world.start()
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const reply = await world.request(bob.key, 'POST', '/start', { session_id: chat_session_id })
    assert.deepEqual([reply.status, reply.json.error], [404, 'session_not_found'])
  })

  test('422 for a voice that there is not', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const reply = await world.request(world.owner.key, 'POST', '/start', { voice_name: 'Nobody' })
    assert.deepEqual([reply.status, reply.json.detail[0].loc], [422, ['body', 'voice_name']])
  })

  test('stop is 404 for the call of somebody else', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { voice_session_id } = await world.start()
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const reply = await world.request(bob.key, 'POST', '/stop', { voice_session_id })
    assert.deepEqual([reply.status, reply.json.error], [404, 'session_not_found'])
  })

  test('403 for somebody it is shared with who would choose the voice', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const reply = await world.request(bob.key, 'PUT', '/name', { voice_name: 'Puck' })
    assert.deepEqual([reply.status, reply.json.error], [403, 'owner_required'])
  })
})

forEachDialect((_, open) => {
  test('409 turn_in_progress while a reply is being given, and from twenty at once one call remains', async () => {
    await using world = await openVoiceWorld(open)
    const chat = world.request(world.owner.key, 'POST', '/api/agents/scout/chat', { message: 'hello' })
    const run = await world.claim()
    const refused = await world.request(world.owner.key, 'POST', '/start', {})
    assert.deepEqual([refused.status, refused.json.error], [409, 'turn_in_progress'])
    assert.equal(refused.json.execution_id, run.execution_id)
    await world.ended(run)
    await chat
    const all = await Promise.all(
      Array.from({ length: 20 }, () => world.request(world.owner.key, 'POST', '/start', {})),
    )
    assert.deepEqual([...new Set(all.map(({ status }) => status))], [200])
    const rows = await world.calls()
    assert.equal(rows.filter(({ ended_at }) => ended_at === null).length, 1)
    assert.equal(rows.filter(({ end_reason }) => end_reason === 'replaced').length, 19)
  })

  test('a ticket opens its call once, of twenty that show it at once', async () => {
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
  test('4001 for a bad ticket, a used one, and one that is too old', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const first = await world.start()
    assert.equal(await codeOf(world, `/ws/voice/${first.voice_session_id}?ticket=none`), 4001)
    assert.equal(await codeOf(world, `/ws/voice/${first.voice_session_id}`), 4001)
    await world.clock.advance(61)
    assert.equal(await codeOf(world, first.websocket_url), 4001)
    await assert.rejects(world.dial('/ws/voice/'), /404/)
    await assert.rejects(world.dial('/ws/voice/a/b'), /404/)
  })

  test("4003 for the call of somebody else, 4001 for another call of one's own, 4004 for none", async () => {
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

  test('4004 for a call that is over, 4003 for somebody who may not use the agent any more', async () => {
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

  test('a frame that cannot be read is answered; many end the call, and one that is too long as well', async () => {
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
    assert.equal((await first.client.next(ended)).reason, 'bad_frames')
    assert.equal((await first.client.closed).code, 1008)
    const second = await world.call()
    second.client.send(JSON.stringify({ type: 'audio', data: 'A'.repeat(voiceFrameLimit * 2) }))
    assert.equal((await second.client.closed).code, 1009)
    await world.over(second.id, 'disconnected')
  })
})

describe('ending', () => {
  test('after 30 minutes', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { client, model } = await world.call()
    await world.clock.waitingFor(1800)
    for (let passed = 30; passed < 1800; passed += 30) {
      await world.clock.advance(30)
      // A sign of life, and that it has come.
      client.send('{"type":"end"}')
      await model.next('audioStreamEnd')
    }
    await world.clock.advance(30)
    assert.equal((await client.next(ended)).reason, 'time_limit')
  })

  test('a client that gives no sign of life', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { id, client } = await world.call()
    client.deaf()
    for (let count = 0; count < 3; count += 1) {
      await world.clock.waitingFor(30)
      await world.clock.advance(30)
    }
    await world.over(id, 'slow_client')
  })

  test('at once for somebody who loses access', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const bob = await world.person('user', 'bob@example.org')
    await world.share('bob@example.org')
    const { client } = await world.call(bob.key)
    await world.unshare('bob@example.org')
    world.accessRevocation.recheck({ id: world.agentId, name: 'scout' })
    assert.equal((await client.next(ended)).reason, 'access_lost')
    assert.equal((await client.closed).code, 4003)
  })

  test('when the provider goes or refuses, with what was said until then', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const lost = await world.call()
    lost.model.hear('Are you there?')
    lost.model.cut()
    assert.equal((await lost.client.next(ended)).reason, 'provider_lost')
    assert.deepEqual(
      (await world.kept(lost.chat_session_id)).map(({ content }) => content),
      ['Are you there?'],
    )
    world.live.refuseWith(403)
    const { websocket_url } = await world.start()
    await using refused = await world.dial(websocket_url)
    assert.equal((await refused.next(ended)).reason, 'provider_refused')
    assert.equal((await refused.closed).code, 1011)
  })

  test('a new call ends the one before it', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { client } = await world.call()
    await world.start()
    assert.equal((await client.next(ended)).reason, 'replaced')
  })

  test('with the platform; a call that nobody carries any more is swept', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { id, client } = await world.call()
    const left = await world.start((await world.person('admin', 'root@example.org')).key)
    await world.voice.close()
    assert.equal((await client.next(ended)).reason, 'platform_stopping')
    assert.equal((await client.closed).code, 1001)
    await world.over(id, 'platform_stopping')
    await world.clock.advance(61)
    await world.voice.calls.sweep()
    await world.over(left.voice_session_id, 'not_answered')
  })

  test('a database that is away for a while loses no line', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { model, client, chat_session_id } = await world.call()
    const mend = world.breakDatabase()
    model.hear('Keep this.')
    model.speak('I will.')
    await client.next(
      ({ type, role, final }: Message) => type === 'transcript' && role === 'assistant' && final,
    )
    await world.clock.waitingFor(1)
    mend()
    await world.clock.advance(1)
    await until(async () => (await world.kept(chat_session_id)).length === 2, 'both lines are kept')
    assert.deepEqual(
      (await world.kept(chat_session_id)).map(({ content }) => content),
      ['Keep this.', 'I will.'],
    )
  })

  test('the voice is told why the agent does not answer', async () => {
    await using world = await openVoiceWorld(openTestDatabase)
    const { model, client } = await world.call()
    for (const [args, words] of [
      [{ message: ' ' }, /1 to 8000/],
      [{}, /1 to 8000/],
    ] as const) {
      model.call('c1', 'ask_agent', args)
      const { functionResponses } = await model.next('toolResponse')
      assert.match(functionResponses[0].response.error, words)
    }
    model.call('c2', 'ask_agent', { message: 'work' })
    await world.ended(await world.claim(), {
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
