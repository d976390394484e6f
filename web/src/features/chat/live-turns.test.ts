import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StreamSetting } from '../../live/stream-setting.ts'
import { createLiveTurns, type LiveTurn } from './live-turns.ts'

const setting: StreamSetting = {
  isHidden: () => false,
  whenVisible: async () => {},
  untilHidden: (signal) => ({ signal, [Symbol.dispose]() {} }),
  wait: async () => {},
  random: () => 0,
}
const question = { message: 'hello', model: null, files: [], key: 'k' }
const accepted = {
  type: 'system',
  subtype: 'accepted',
  execution_id: 'x1',
  status: 'queued',
  session_id: 's',
}
const piece = (text: string) => ({ type: 'partial', kind: 'text', text })
const done = (status: string, more = {}) => ({ type: 'done', status, ...more })

/** A body that is written while it is read. */
function openBody(type = 'application/x-ndjson') {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const write = (object: object) =>
    writer.write(
      new TextEncoder().encode(
        type === 'text/event-stream' ? `data: ${JSON.stringify(object)}\n\n` : `${JSON.stringify(object)}\n`,
      ),
    )
  return {
    response: new Response(readable, { headers: { 'content-type': type } }),
    write,
    close: () => writer.close(),
  }
}

function bench(
  send: () => Promise<Response>,
  follow: () => Promise<Response> = () => assert.fail('no run to follow'),
) {
  const stored: string[] = []
  let key = 0
  const turns = createLiveTurns({
    send,
    follow: () => follow,
    onStored: async (id) => void stored.push(id),
    setting,
    gather: (run) => queueMicrotask(run),
    now: () => new Date('2026-01-01T00:00:00Z'),
    newKey: () => `key-${key++}`,
  })
  /** The first turn, once it meets the condition. */
  const until = (accept: (turn: LiveTurn) => boolean) =>
    new Promise<LiveTurn>((resolve) => {
      const look = () => {
        const turn = turns.current()[0]
        if (turn && accept(turn)) resolve(turn)
      }
      turns.subscribe(look)
      look()
    })
  return { turns, stored, until }
}
const textOf = ({ transcript }: LiveTurn) =>
  transcript.steps.map((step) => (step.kind === 'text' ? step.text : '')).join('')

describe('a sent turn', () => {
  test('passes through sending, waiting and working to its end', async () => {
    const body = openBody()
    const { turns, stored, until } = bench(async () => body.response)
    turns.send('s', question)
    assert.equal(turns.current()[0]?.phase, 'sending')
    void body.write(accepted)
    const waiting = await until(({ phase }) => phase === 'waiting')
    assert.equal(waiting.executionId, 'x1')
    void body.write(piece('Hel'))
    await until((turn) => textOf(turn) === 'Hel')
    void body.write(piece('lo'))
    const working = await until((turn) => textOf(turn) === 'Hello')
    assert.equal(working.phase, 'working')
    void body.write(done('success'))
    const ended = await until(({ phase }) => phase === 'ended')
    assert.equal(ended.end?.status, 'success')
    assert.deepEqual(stored, ['s', 's'])
  })

  test('keeps the question and the error when it is refused', async () => {
    const body = JSON.stringify({ detail: 'The agent is not running.', error: 'agent_not_running' })
    const { turns, until } = bench(async () => new Response(body, { status: 503 }))
    turns.send('s', question)
    const refused = await until(({ phase }) => phase === 'refused')
    assert.equal(refused.question?.message, 'hello')
    assert.equal((refused.fault as Error).message, 'The agent is not running.')
    turns.forget(refused.key)
    assert.deepEqual(turns.current(), [])
  })

  test('keeps the partial answer when it is stopped', async () => {
    const body = openBody()
    const { turns, until } = bench(async () => body.response)
    turns.send('s', question)
    for (const object of [accepted, piece('half an ans')]) void body.write(object)
    await until((turn) => textOf(turn) !== '')
    void body.write(done('cancelled', { error_code: 'user_cancelled' }))
    const ended = await until(({ phase }) => phase === 'ended')
    assert.equal(textOf(ended), 'half an ans')
    assert.equal(ended.end?.code, 'user_cancelled')
  })

  test('is followed to its end after the connection breaks', async () => {
    const [body, again] = [openBody(), openBody('text/event-stream')]
    const { turns, until } = bench(
      async () => body.response,
      async () => again.response,
    )
    turns.send('s', question)
    void body.write(accepted)
    await until(({ phase }) => phase === 'waiting')
    void body.close()
    void again.write({ type: 'stream_end', status: 'success', execution_id: 'x1' })
    assert.equal((await until(({ phase }) => phase === 'ended')).end?.status, 'success')
  })
})

describe('a followed run', () => {
  test('is read once, however often it is followed', async () => {
    const body = openBody('text/event-stream')
    const { turns } = bench(
      () => assert.fail('no message to send'),
      async () => body.response,
    )
    turns.follow('s', 'x1')
    turns.follow('s', 'x1')
    assert.equal(turns.current().length, 1)
    turns.close()
    assert.deepEqual(turns.current(), [])
  })

  test('waits until the pending send is confirmed', async () => {
    const body = openBody()
    const { turns, until } = bench(async () => body.response)
    turns.send('s', question)
    turns.follow('s', 'x1')
    assert.equal(turns.current().length, 1)
    void body.write(accepted)
    await until(({ executionId }) => executionId === 'x1')
    turns.follow('s', 'x1')
    assert.equal(turns.current().length, 1)
    turns.close()
  })
})
