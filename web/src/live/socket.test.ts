import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLive, type LiveEvent, type LiveState } from './socket.ts'

/** A socket whose other end is the test. */
class Wire extends EventTarget {
  readonly url: string
  closed = false
  constructor(url: string) {
    super()
    this.url = url
  }
  say(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }))
  }
  close(): void {
    if (this.closed) return
    this.closed = true
    this.dispatchEvent(new Event('close'))
  }
}

function bench(stored: string | null = null) {
  const wires: Wire[] = []
  const arrivals: ((wire: Wire) => void)[] = []
  const recorded = { events: [] as LiveEvent[], states: [] as LiveState[], gaps: 0, waits: [] as number[] }
  let tickets = 0
  const memory = { id: stored }
  const live = createLive({
    ticket: async () => `t${++tickets}`,
    connect(url) {
      const wire = new Wire(url)
      wires.push(wire)
      queueMicrotask(() => arrivals.shift()?.(wire))
      // Only the members that the reader uses.
      return wire as unknown as WebSocket
    },
    origin: 'ws://roost.test',
    onEvent: (event) => void recorded.events.push(event),
    onGap: () => void recorded.gaps++,
    onState: (state) => void recorded.states.push(state),
    position: {
      read: () => memory.id,
      write(id) {
        memory.id = id
      },
    },
    wait: async (ms) => void recorded.waits.push(ms),
    random: () => 0.5,
  })
  const next = () => new Promise<Wire>((resolve) => arrivals.push(resolve))
  return { live, recorded, wires, next, memory }
}

test('events reach the listener, control messages do not', async () => {
  const { live, recorded, next } = bench()
  const opened = next()
  live.resume()
  const wire = await opened
  wire.say({ type: 'connected', _eid: '5' })
  wire.say({ type: 'agent_started', _eid: '6', agent_name: 'scout' })
  wire.say({ type: 'pong' })
  assert.deepEqual(
    recorded.events.map((event) => event.type),
    ['agent_started'],
  )
  assert.equal(recorded.states.at(-1), 'open')
  live.close()
})

test('after a break it resumes after the last event, with a new ticket and no gap', async () => {
  const { live, recorded, next } = bench()
  const opened = next()
  live.resume()
  const first = await opened
  first.say({ type: 'connected', _eid: '5' })
  first.say({ type: 'agent_started', _eid: '6' })
  const again = next()
  first.close()
  const second = await again
  assert.match(second.url, /ticket=t2/)
  assert.match(second.url, /last_event_id=6/)
  assert.equal(recorded.gaps, 1, 'only the first connection is a gap')
  // The id of this message is newer than the replay that follows it.
  second.say({ type: 'connected', _eid: '9' })
  const third = next()
  second.close()
  assert.match((await third).url, /last_event_id=6/)
  live.close()
})

test('a reloaded page requests only the events it missed', async () => {
  const { live, recorded, next, memory } = bench('7')
  const opened = next()
  live.resume()
  const wire = await opened
  assert.match(wire.url, /last_event_id=7/)
  wire.say({ type: 'connected', _eid: '9' })
  wire.say({ type: 'agent_started', _eid: '8' })
  assert.deepEqual([recorded.gaps, recorded.events.length, memory.id], [0, 1, '8'])
  live.close()
  assert.equal(memory.id, null, "another person's connection starts without a position")
})

test('a resync message makes everything stale', async () => {
  const { live, recorded, next, memory } = bench('from-elsewhere')
  const opened = next()
  live.resume()
  const wire = await opened
  wire.say({ type: 'connected', _eid: '5' })
  wire.say({ type: 'resync_required', reason: 'trimmed' })
  assert.deepEqual([recorded.gaps, memory.id], [1, '5'])
  wire.say({ type: 'agent_started', _eid: '6' })
  wire.say({ type: 'resync_required', reason: 'slow_consumer' })
  assert.deepEqual([recorded.gaps, memory.id], [2, '6'])
  live.close()
})

test('delays grow while it never opens, and reset once it did', async () => {
  const { live, recorded, next } = bench()
  let opened = next()
  live.resume()
  for (let attempt = 0; attempt < 8; attempt++) {
    const wire = await opened
    opened = next()
    wire.close()
  }
  const refused = [...recorded.waits]
  assert.deepEqual(refused.slice(0, 3), [1000, 2000, 4000])
  assert.ok(Math.max(...refused) <= 15_000)
  const wire = await opened
  wire.say({ type: 'connected', _eid: '1' })
  opened = next()
  wire.close()
  await opened
  assert.equal(recorded.waits.at(-1), 500)
  live.close()
})

test('a pause closes the socket and opens no other', async () => {
  const { live, recorded, wires, next } = bench()
  const opened = next()
  live.resume()
  const wire = await opened
  wire.say({ type: 'connected', _eid: '5' })
  live.pause()
  assert.ok(wire.closed)
  assert.equal(recorded.states.at(-1), 'paused')
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(wires.length, 1)
})
