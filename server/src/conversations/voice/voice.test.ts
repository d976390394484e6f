import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tone } from '@roost/test-support/live/index'
import { until } from '../../agents/test/world.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type Message, openVoiceWorld, type VoiceWorld } from './test/world.ts'

const speech = (milliseconds: number) =>
  JSON.stringify({ type: 'audio', data: tone(milliseconds, 16_000).toString('base64') })
const summary = (messages: Message[]) => messages.map(({ role, content, source }) => [role, content, source])
const isEnded = ({ type, state }: Message) => type === 'status' && state === 'ended'

/** Asks the agent by voice and claims the run. */
async function askByVoice(world: VoiceWorld, model: Message, message = 'the time') {
  model.hear('What is the time?')
  model.call('c1', 'ask_agent', { message })
  return world.claim()
}

forEachDialect((_, open) => {
  test('speech is sent to the model, its speech to the client, and both are stored', async () => {
    await using world = await openVoiceWorld(open)
    const { id, client, model, chat_session_id } = await world.call()
    client.send(speech(60))
    assert.deepEqual(await model.heardFor(60).then(() => model.audio()), tone(60, 16_000))
    client.send(JSON.stringify({ type: 'end' }))
    assert.equal(await model.next('audioStreamEnd'), true)
    model.hear('Good', ' morning.')
    model.speak('Good morning, Ann.')
    const sound = await client.next('audio')
    assert.deepEqual(Buffer.from(sound.data, 'base64'), tone(200))
    await client.next(({ type, role, final }) => type === 'transcript' && role === 'assistant' && final)
    await client.next(({ type, state }) => type === 'status' && state === 'listening')
    const states = client.messages.filter(({ type }) => type === 'status').map(({ state }) => state)
    assert.deepEqual(states, ['connecting', 'listening', 'speaking', 'listening'])

    await world.clock.advance(12.4)
    const stopped = await world.request(world.owner.key, 'POST', '/stop', { voice_session_id: id })
    assert.equal(stopped.status, 200)
    const { transcript, ...figures } = stopped.json
    assert.deepEqual(figures, { messages_saved: 2, duration_seconds: 12 })
    assert.deepEqual(
      transcript.map(({ role, text }: Message) => [role, text]),
      [
        ['user', 'Good morning.'],
        ['assistant', 'Good morning, Ann.'],
      ],
    )
    assert.deepEqual(summary(await world.messages(chat_session_id)), [
      ['user', 'Good morning.', 'voice'],
      ['assistant', 'Good morning, Ann.', 'voice'],
    ])
    assert.equal((await client.next(isEnded)).reason, 'stopped')
    assert.equal((await client.closed).code, 1000)

    assert.equal((await world.lastEvent('chat.response_ready')).voice_session_id, id)
    const again = await world.request(world.owner.key, 'POST', '/stop', { voice_session_id: id })
    assert.deepEqual(again.json, stopped.json)
  })

  test('the agent answers in its own run; the spoken answer names that run', async () => {
    await using world = await openVoiceWorld(open)
    const { client, model, chat_session_id } = await world.call()
    const run = await askByVoice(world, model)
    const call = await client.next('tool_call')
    assert.deepEqual(call, { type: 'tool_call', id: 'c1', name: 'ask_agent', args: { message: 'the time' } })
    const row = await world.runs.row(run.execution_id)
    assert.deepEqual([row.triggered_by, row.session_id], ['voice', chat_session_id])
    await world.finish(run)
    const { functionResponses } = await model.next('toolResponse')
    assert.deepEqual(functionResponses[0].response, { answer: 'It is noon.' })
    assert.deepEqual(await client.next('tool_result'), {
      type: 'tool_result',
      id: 'c1',
      name: 'ask_agent',
      ok: true,
    })
    const tasks = client.messages.filter(({ type }) => type === 'task')
    assert.equal(tasks[0].task_id, run.execution_id)
    assert.deepEqual([tasks.at(-1)?.state, tasks.at(-1)?.label], ['success', 'the time'])
    model.speak('Noon.')
    await until(async () => (await world.messages(chat_session_id)).length === 2, 'both lines are stored')
    const [question, answer] = await world.messages(chat_session_id)
    assert.deepEqual(summary([question, answer]), [
      ['user', 'What is the time?', 'voice'],
      ['assistant', 'Noon.', 'voice'],
    ])
    assert.equal(answer.execution_id, run.execution_id)
    assert.ok(answer.voice_call_id)
  })

  test('an answer that was not spoken becomes a message, once', async () => {
    await using world = await openVoiceWorld(open)
    for (const endsBeforeRun of [false, true]) {
      const { client, model, chat_session_id } = await world.call()
      const before = (await world.messages(chat_session_id)).length
      const run = await askByVoice(world, model)
      if (!endsBeforeRun) {
        await world.finish(run)
        await model.next('toolResponse')
      }
      client.cut()
      await until(
        async () => (await world.request(world.owner.key, 'GET', '/status')).json.active_session_id === null,
        'the call is over',
      )
      if (endsBeforeRun) await world.finish(run)
      const stored = (await world.messages(chat_session_id)).slice(before)
      assert.deepEqual(summary(stored), [
        ['user', 'What is the time?', 'voice'],
        ['assistant', 'It is noon.', 'voice'],
      ])
    }
  })

  test('an answer whose tool call was cancelled becomes a message too', async () => {
    await using world = await openVoiceWorld(open)
    const { id, client, model, chat_session_id } = await world.call()
    const run = await askByVoice(world, model)
    model.send({ toolCallCancellation: { ids: ['c1'] } })
    model.speak('Never mind.')
    await client.next(
      ({ type, role, final }: Message) => type === 'transcript' && role === 'assistant' && final,
    )
    await world.finish(run)
    await client.next('tool_result')
    model.speak('Anything else?')
    await until(async () => (await world.messages(chat_session_id)).length === 3, 'three lines are stored')
    await world.request(world.owner.key, 'POST', '/stop', { voice_session_id: id })
    assert.deepEqual(
      (await world.messages(chat_session_id)).map(({ content }) => content),
      ['What is the time?', 'Never mind.', 'Anything else?', 'It is noon.'],
    )
  })

  test('the next written turn includes the spoken lines, once', async () => {
    await using world = await openVoiceWorld(open)
    const { id, model, chat_session_id } = await world.call()
    const first = await askByVoice(world, model)
    await world.finish(first, { runtime_session_id: 'r1' })
    await model.next('toolResponse')
    model.speak('Noon.')
    await until(async () => (await world.messages(chat_session_id)).length === 2, 'both lines are stored')
    await world.request(world.owner.key, 'POST', '/stop', { voice_session_id: id })
    const say = (message: string) =>
      world.request(world.owner.key, 'POST', '/api/agents/scout/chat', { message }).then(() => {})
    const turn = say('thanks')
    const second = await world.claim()
    assert.match(JSON.stringify(second), /<assistant>\\nNoon\./)
    await world.finish(second, { runtime_session_id: 'r1' })
    await turn
    const next = say('bye')
    const third = await world.claim()
    assert.doesNotMatch(JSON.stringify(third), /Noon\./)
    await world.finish(third)
    await next
  })

  test("the voice gets the owner's prompt and the earlier messages", async () => {
    await using world = await openVoiceWorld(open)
    const put = await world.request(world.owner.key, 'PUT', '/prompt', {
      voice_system_prompt: 'Like a pirate.',
    })
    assert.deepEqual(put.json, { voice_system_prompt: 'Like a pirate.' })
    const named = await world.request(world.owner.key, 'PUT', '/name', { voice_name: 'Puck' })
    assert.equal(named.json.voice_name, 'Puck')
    const first = await world.call()
    first.model.hear('I am Ann.')
    first.model.speak('Ahoy.')
    await until(
      async () => (await world.messages(first.chat_session_id)).length === 2,
      'both lines are stored',
    )
    await world.request(world.owner.key, 'POST', '/stop', { voice_session_id: first.id })
    const { model } = await world.call()
    const instruction = model.setup.systemInstruction.parts[0].text
    for (const part of [
      '"scout"',
      'Like a pirate.',
      '<user>I am Ann.</user>',
      '<assistant>Ahoy.</assistant>',
    ]) {
      assert.ok(instruction.includes(part), part)
    }
    const { voiceName } = model.setup.generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig
    assert.equal(voiceName, 'Puck')
    const status = await world.request(world.owner.key, 'GET', '/status')
    assert.deepEqual([status.json.voice_prompt_set, status.json.voice_name], [true, 'Puck'])
  })

  test('a Workspace conversation can be called, and spoken lines count as read', async () => {
    await using world = await openVoiceWorld(open)
    const token = await world.session(world.owner.id)
    const { session_id } = (await world.portal(token, 'GET', '/history')).json
    const started = await world.portal(token, 'POST', '/voice/start', { portal_session_id: session_id })
    assert.equal(started.status, 200, JSON.stringify(started.json))
    assert.equal(started.json.portal_session_id, session_id)
    const { client, model } = await world.call('', started.json)
    model.speak('Hello.')
    await client.next(({ type, final }) => type === 'transcript' && final)
    client.cut()
    const history = async () => (await world.portal(token, 'GET', '/history')).json.messages
    await until(async () => (await history()).length === 1, 'the line is stored')
    const [line] = await history()
    assert.deepEqual([line.source, line.voice_call_id], ['voice', started.json.voice_session_id])
    const { agents } = (await world.request(token, 'GET', '/api/enterprise/client-portal/my-agents')).json
    assert.deepEqual([agents[0].unread, agents[0].voice_available], [0, false])
  })

  test('deleting the agent deletes all call and voice data', async () => {
    await using world = await openVoiceWorld(open)
    await world.request(world.owner.key, 'PUT', '/name', { voice_name: 'Puck' })
    const { client, model } = await world.call()
    await askByVoice(world, model)
    const deletion = await world.request(world.owner.key, 'DELETE', '/api/agents/scout')
    assert.equal(deletion.status, 200, JSON.stringify(deletion.json))
    assert.equal((await client.next(isEnded)).reason, 'agent_deleted')
    for (const table of ['agent_voices', 'voice_calls', 'voice_asks', 'chat_messages'] as const) {
      const rows = await world.db
        .withTables<Record<typeof table, object>>()
        .selectFrom(table)
        .selectAll()
        .execute()
      assert.deepEqual(rows, [], table)
    }
  })
})
