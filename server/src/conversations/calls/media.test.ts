import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loudness } from '@roost/test-support/live/index'
import { openMediaEnd } from '@roost/test-support/telephony/index'
import type { Db } from '../../ports/database/port.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { encodeMulaw } from './audio/mulaw.ts'
import { telephoneToVoice } from './audio/wires.ts'
import { type CallWorld, startCallWorld, untilEnded } from './test/call-world.ts'

/** One second of a tone in telephone encoding. */
const speech = Buffer.from(
  encodeMulaw(Int16Array.from({ length: 8_000 }, (_, n) => Math.round(8_000 * Math.sin(n / 3)))),
)

/** An answered call, from both ends. */
async function answered(world: CallWorld, overrides: object = {}) {
  await world.bind({ display_name: 'Robin' })
  const { json } = await world.call({ context: 'Ask for the order.', ...overrides })
  const call = await world.provider.nextCall()
  const [phone, voice] = await Promise.all([call.answer(), world.live.session()])
  return { id: json.execution_id as string, call, phone, voice }
}

/** The tasks started by a call. */
async function tasksOf(db: Db, executionId: string) {
  const rows = await executionStore(db).list({ agentId: 'a1', triggeredBy: 'voip' }, { limit: 9, offset: 0 })
  return rows.filter((row) => row.parent_execution_id === executionId)
}

forEachDialect((_, open) => {
  test('both ends hear each other; the transcript is the response and becomes a task of the agent', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const { id, phone, voice } = await answered(world)
    const { systemInstruction, tools, generationConfig } = voice.setup
    assert.match(systemInstruction.parts[0].text, /voice of Robin[\s\S]*Be kind\.[\s\S]*Ask for the order\./)
    assert.equal(generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName, 'Kore')
    assert.deepEqual(
      tools[0].functionDeclarations.map(({ name }: { name: string }) => name),
      ['ask_agent', 'hang_up'],
    )
    assert.match(
      JSON.stringify(await Promise.race([voice.next('text'), voice.next('clientContent')])),
      /answered/,
    )

    phone.say(speech)
    await voice.heardFor(1_000)
    assert.ok(loudness(voice.audio()) > 4_000)
    voice.hear('The order', ' has left.')
    voice.speak('Thank you.', { milliseconds: 600 })
    const heard = await phone.untilHeard(4_800)
    assert.ok(loudness(telephoneToVoice()(heard)) > 4_000)
    phone.stop()

    const row = await untilEnded(world, id)
    assert.deepEqual([row.status, row.terminal_reason], ['success', 'completed'])
    assert.equal(row.response, 'They: The order has left.\nAgent: Thank you.')
    await world.runLoops()
    const [task] = await tasksOf(db, id)
    assert.ok(task)
    assert.match(task.message, /\+15550123[\s\S]*Ask for the order\.[\s\S]*They: The order has left\./)
    assert.equal(task.chain_depth, 0, 'as deep as the caller: nobody calls the agent after the call')
    // A second pass starts no other task.
    await world.runLoops()
    assert.equal((await tasksOf(db, id)).length, 1)
  })

  test('the voice stops when the person speaks: unplayed audio is dropped', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const { phone, voice } = await answered(world)
    voice.speak('A long story.', { ends: false, milliseconds: 400 })
    await phone.untilHeard(3_000)
    voice.interrupt()
    await phone.untilCleared()
  })

  test('the voice asks its agent and speaks the answer', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const { id, phone, voice } = await answered(world, { process_transcript: false })
    voice.call('t1', 'ask_agent', { message: 'When does the order leave?' })
    const [task] = await world.untilTask()
    assert.deepEqual([task.triggered_by, task.parent_execution_id], ['voip', id])
    assert.equal((await world.work('On Friday.')).message, 'When does the order leave?')
    const { functionResponses } = await voice.next('toolResponse')
    assert.deepEqual(functionResponses[0].response, { answer: 'On Friday.' })
    voice.call('t2', 'ask_agent', {})
    assert.match(JSON.stringify(await voice.next('toolResponse')), /1 to 8000 characters/)
    voice.hear('Good.')
    voice.speak('Goodbye.')
    await phone.untilHeard(1_500)
    phone.stop()
    assert.equal((await untilEnded(world, id)).status, 'success')
    await world.runLoops()
    assert.equal((await tasksOf(db, id)).length, 1)
  })

  test('the voice hangs up after its goodbye was played', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const { id, call, phone, voice } = await answered(world)
    voice.call('t1', 'hang_up', {})
    await voice.next('toolResponse')
    voice.speak('Goodbye.')
    await phone.closed
    assert.ok(phone.heard().length > 0)
    assert.deepEqual([(await untilEnded(world, id)).status], ['success'])
    await call.hungUp
  })

  test('a call ends at its maximum duration and is hung up', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const { id, call } = await answered(world)
    await world.clock.waitingFor(1_800)
    for (let time = 0; time < 90; time += 1) await world.clock.advance(20)
    const row = await untilEnded(world, id)
    assert.deepEqual([row.status, row.terminal_reason], ['success', 'max_duration'])
    await call.hungUp
  })

  test('a voice that is unavailable or disconnects fails the call and keeps the transcript', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    world.live.refuseWith(503)
    await world.bind()
    const { json } = await world.call()
    const failedCall = await world.provider.nextCall()
    await failedCall.answer()
    const unavailable = await untilEnded(world, json.execution_id)
    assert.deepEqual(
      [unavailable.status, unavailable.error_code, unavailable.response],
      ['failed', 'network', null],
    )
    world.live.refuseWith(null)

    const { id, phone, voice } = await answered(world)
    voice.speak('Good day.')
    await phone.untilHeard(1_500)
    voice.close(1011, 'quota')
    const lost = await untilEnded(world, id)
    assert.deepEqual([lost.status, lost.response], ['failed', 'Agent: Good day.'])
    await phone.closed
  })

  test('a ticket is valid once, and only for its call', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    const { json } = await world.call()
    const call = await world.provider.nextCall()
    const guess = (ticket: string) =>
      openMediaEnd({ url: call.mediaUrl, accountSid: 'AC0', callSid: call.sid, ticket })
    await (await guess('another-ticket')).closed
    const phone = await call.answer()
    await world.live.session()
    await assert.rejects(guess(call.ticket), /refused/)
    phone.stop()
    assert.equal((await untilEnded(world, json.execution_id)).status, 'success')
    await assert.rejects(guess(call.ticket), /refused/)
  })

  test('after a crash the transcript remains, and another process ends the call', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const { id, phone, voice } = await answered(world)
    voice.hear('Hello?')
    voice.speak('Good day.')
    await world.untilLines(2)
    await using second = await db.openAgain()
    await using other = await startCallWorld(second, { beside: world })
    other.clock.set(world.clock.now())
    await other.clock.advance(61)
    await other.runLoops()
    const row = await untilEnded(other, id)
    assert.deepEqual([row.status, row.error_code], ['failed', 'lease_expired'])
    assert.equal(row.response, 'They: Hello?\nAgent: Good day.')
    // The first process learns of it from the failed renewal, and from the end of the media stream.
    await phone.closed
  })

  test('stopping the platform ends its calls and keeps the transcript', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const { id, call, phone, voice } = await answered(world)
    voice.speak('Good day.')
    await phone.untilHeard(1_500)
    await world.calls.close()
    const row = await untilEnded(world, id)
    assert.deepEqual([row.status, row.response], ['failed', 'Agent: Good day.'])
    await call.hungUp
  })
})
