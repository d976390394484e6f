import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { backoffMs, type OpenStream, readEvents, type StreamItem, type StreamState } from './stream.ts'
import type { StreamSetting } from './stream-setting.ts'
import { readTurn } from './turn-stream.ts'

const encoder = new TextEncoder()
const event = (n: number, fields: object) => `id: ${n}\ndata: ${JSON.stringify({ _n: n, ...fields })}\n\n`
const streamEnd = 'data: {"type":"stream_end","status":"success"}\n\n'

type Body = {
  text: string
  chunk?: number
  type?: string
  breaks?: boolean
  hangs?: boolean
  status?: number
}

/** A response in chunks of `chunk` bytes that then ends, breaks, or stays open. */
function respond(
  { text, chunk = 7, type = 'text/event-stream', breaks, hangs, status }: Body,
  signal: AbortSignal,
) {
  const bytes = encoder.encode(text)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
    pull: async (controller) => {
      if (at < bytes.length) {
        controller.enqueue(bytes.slice(at, at + chunk))
        at += chunk
      } else if (breaks) controller.error(new TypeError('network error'))
      else if (hangs) await new Promise(() => {})
      else controller.close()
    },
  })
  return new Response(body, { status: status ?? 200, headers: { 'content-type': type } })
}

/** A setting without delays; `hide` simulates a tab that was hidden for the grace period. */
function createSetting() {
  const waits: number[] = []
  let isHidden = false
  let hidden = new AbortController()
  let visible = Promise.withResolvers<void>()
  const setting: StreamSetting = {
    isHidden: () => isHidden,
    whenVisible: () => visible.promise,
    untilHidden: (signal) => ({
      signal: AbortSignal.any([signal, hidden.signal]),
      [Symbol.dispose]() {},
    }),
    wait: async (ms) => void waits.push(ms),
    random: () => 0,
  }
  return {
    setting,
    waits,
    hide() {
      isHidden = true
      visible = Promise.withResolvers<void>()
      hidden.abort()
    },
    show() {
      isHidden = false
      hidden = new AbortController()
      visible.resolve()
    },
  }
}

/** Returns one body after another and records the headers of each request. */
function script(bodies: (Body | Error)[]) {
  const requests: { after: number; lastEventId: string | null }[] = []
  const open: OpenStream = async ({ after, headers, signal }) => {
    requests.push({ after, lastEventId: headers['last-event-id'] ?? null })
    const body = bodies.shift()
    if (!body) throw new Error('too many requests')
    if (body instanceof Error) throw body
    return respond(body, signal)
  }
  return { open, requests }
}

async function collect(items: AsyncIterable<StreamItem>): Promise<StreamItem[]> {
  const found: StreamItem[] = []
  for await (const item of items) found.push(item)
  return found
}

const numbers = (items: StreamItem[]) => items.map(({ n, object }) => n ?? object.type)

test('a stream is read to its end, with characters split across chunks', async () => {
  for (const chunk of [1, 2, 3, 1000]) {
    const text = `: keepalive\n\n${event(1, { type: 'x', text: 'Grüße 🚀' })}${streamEnd}`
    const { open } = script([{ text, chunk }])
    const items = await collect(
      readEvents(open, { signal: new AbortController().signal, ...createSetting() }),
    )
    assert.equal(items[0]?.object.text, 'Grüße 🚀')
    assert.deepEqual(numbers(items), [1, 'stream_end'])
  }
})

test('a broken stream resumes after its last line without duplicates', async () => {
  const { setting, waits } = createSetting()
  const { open, requests } = script([
    { text: event(1, { type: 'x' }) + event(2, { type: 'x' }), breaks: true },
    new TypeError('network error'),
    { text: '{"detail":"down"}', status: 503, type: 'application/json' },
    { text: `data: {"type":"error","message":"The stream broke off.","retryable":true}\n\n${streamEnd}` },
    { text: event(2, { type: 'x' }) + event(3, { type: 'x' }) },
    { text: event(4, { type: 'x' }) + streamEnd },
  ])
  const states: StreamState[] = []
  const onState = (state: StreamState) => void states.push(state)
  const items = await collect(readEvents(open, { signal: new AbortController().signal, setting, onState }))
  assert.deepEqual(numbers(items), [1, 2, 3, 4, 'stream_end'])
  assert.deepEqual(
    requests.map(({ lastEventId }) => lastEventId),
    [null, '2', '2', '2', '2', '3'],
  )
  assert.deepEqual(waits, [250, 500, 1000, 2000, 250])
  assert.equal(states.at(-1), 'open')
})

test('a refusal is thrown and not retried', async () => {
  const { setting, waits } = createSetting()
  const body = { text: '{"detail":"No such run.","error":"execution_not_found"}', status: 404 }
  const { open, requests } = script([body])
  await assert.rejects(
    collect(readEvents(open, { signal: new AbortController().signal, setting })),
    (error) => error instanceof ApiError && error.body?.error === 'execution_not_found',
  )
  assert.deepEqual([requests.length, waits.length], [1, 0])
})

test('a hidden page closes its stream and resumes after the last line when shown', async () => {
  const world = createSetting()
  const { open, requests } = script([
    { text: event(1, { type: 'x' }), hangs: true },
    { text: event(2, { type: 'x' }) + streamEnd },
  ])
  const items = readEvents(open, { signal: new AbortController().signal, setting: world.setting })
  assert.equal((await items.next()).value?.n, 1)
  const next = items.next()
  world.hide()
  await new Promise(setImmediate)
  assert.equal(requests.length, 1)
  world.show()
  assert.equal((await next).value?.n, 2)
  assert.deepEqual(requests[1], { after: 1, lastEventId: '1' })
})

test('aborting ends the iteration without an error', async () => {
  const stop = new AbortController()
  const { open } = script([{ text: event(1, { type: 'x' }), hangs: true }])
  const items = readEvents(open, { signal: stop.signal, ...createSetting() })
  await items.next()
  const next = items.next()
  stop.abort()
  assert.equal((await next).done, true)
})

test('delays grow to 30 s and are never zero', () => {
  assert.deepEqual(
    [1, 2, 3, 20].map((failures) => backoffMs(failures, 1)),
    [500, 1000, 2000, 30_000],
  )
  assert.equal(backoffMs(20, 0), 15_000)
})

const accepted = '{"type":"system","subtype":"accepted","execution_id":"e1"}\n'
const ndjson = 'application/x-ndjson'

test('a turn is read to its `done`, without keepalives', async () => {
  const text = `${accepted}{"type":"keepalive"}\n{"type":"x","_n":1}\n{"type":"done","status":"success"}`
  const { open, requests } = script([])
  const executions: string[] = []
  const items = await collect(
    readTurn(async ({ signal }) => respond({ text, type: ndjson, chunk: 3 }, signal), {
      signal: new AbortController().signal,
      follow: () => open,
      onExecution: (id) => void executions.push(id),
      ...createSetting(),
    }),
  )
  assert.deepEqual(numbers(items), ['system', 1, 'done'])
  assert.deepEqual([executions, requests], [['e1'], []])
})

test('a broken turn is followed after its last line and never sent again', async () => {
  const text = `${accepted}{"type":"x","_n":1}\n{"type":"partial","kind":"text","text":"Hel`
  const { open, requests } = script([{ text: event(2, { type: 'x' }) + streamEnd }])
  let sent = 0
  const items = await collect(
    readTurn(
      async ({ signal }) => {
        sent += 1
        return respond({ text, type: ndjson, breaks: true }, signal)
      },
      { signal: new AbortController().signal, follow: () => open, ...createSetting() },
    ),
  )
  assert.deepEqual(numbers(items), ['system', 1, 2, 'stream_end'])
  assert.deepEqual([sent, requests], [1, [{ after: 1, lastEventId: '1' }]])
})

test('a refused turn throws for every status', async () => {
  for (const status of [404, 429, 503]) {
    const body = { text: '{"detail":"No.","error":"queue_full"}', status, type: 'application/json' }
    const turn = readTurn(async ({ signal }) => respond(body, signal), {
      signal: new AbortController().signal,
      follow: () => script([]).open,
      ...createSetting(),
    })
    await assert.rejects(collect(turn), (error) => error instanceof ApiError && error.status === status)
  }
})
