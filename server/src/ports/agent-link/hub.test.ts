import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { maxMessageBytes } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../kit/clock.ts'
import { createTestClock } from '../../test/clock.ts'
import { dialLink, type LinkAgent } from '../../test/link-agent.ts'
import { memoryEphemeral } from '../ephemeral/memory.ts'
import { EphemeralDown } from '../ephemeral/port.ts'
import { silentLog } from '../log.ts'
import { type AgentLinkHub, createAgentLinkHub } from './hub.ts'
import { LinkDown, LinkFault, type LinkHandlers, LinkTimeout } from './port.ts'

const settings = {
  agent_name: 'test',
  read_only: { enabled: false, blocked_patterns: [], allowed_patterns: [] },
  parallel_limit: 3,
  model: null,
  chat_idle_seconds: 600,
  stall_seconds: 900,
  disk_seconds: 60,
  way_out: null,
}

function quietHandlers(overrides: Partial<LinkHandlers> = {}): LinkHandlers {
  return {
    hello: async () => ({ settings, acked: {}, drop: [], lease_seconds: 60 }),
    claim: async () => ({ runs: [] }),
    started: async () => ({ ok: true }),
    lines: async (_, { from, lines }) => ({ acked: from + lines.length - 1 }),
    result: async () => ({ accepted: true }),
    beat: async () => ({ ok: true }),
    attachment: async () => ({ stale: true }),
    template: async () => ({ version: null, size: 0, data_base64: '' }),
    queue: async () => ({ updates: [] }),
    partial: async () => {},
    ...overrides,
  }
}

/** One process of the platform: a hub behind a real listener. The path names the connecting agent. */
async function startHub(
  overrides: Partial<LinkHandlers> = {},
  {
    clock = systemClock,
    ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog }),
    own = [':8001'],
    isKeyWorking = async (_keyId: string) => true,
  } = {},
): Promise<{ hub: AgentLinkHub; sockets: WebSocketServer; dial(agentId?: string): Promise<LinkAgent> }> {
  const hub = createAgentLinkHub({
    ephemeral,
    ownAddresses: () => own,
    isKeyWorking,
    clock,
    log: silentLog,
  })
  hub.serve(quietHandlers(overrides))
  await hub.open()
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes })
  const server: Server = createServer()
  server.on('upgrade', (request, stream, head) => {
    const agentId = (request.url ?? '').slice(1)
    sockets.handleUpgrade(request, stream, head, (socket) =>
      hub.accept(socket, { agentId, agentName: agentId, keyId: `key-${agentId}` }, `owner-${agentId}`),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(async () => {
    await hub.close()
    for (const client of sockets.clients) client.terminate()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { hub, sockets, dial: (agentId = 'a1') => dialLink(`ws://127.0.0.1:${port}/${agentId}`) }
}

test('a greeted agent is connected and receives wake signals', async () => {
  const { hub, dial } = await startHub()
  await using agent = await dial()
  assert.equal(hub.isConnected('a1'), false)
  assert.deepEqual(await agent.hello(), {
    settings,
    acked: {},
    drop: [],
    lease_seconds: 60,
    platform_addresses: [':8001'],
  })
  assert.equal(hub.isConnected('a1'), true)
  hub.wake('a1')
  assert.deepEqual(await agent.next('wake'), { t: 'wake' })
})

test('a link ends when its key stops, also during the handshake, or once it can be checked', async () => {
  const clock = createTestClock()
  const answers: Record<string, boolean> = { 'key-a1': true, 'key-a2': true, 'key-a3': true }
  const isKeyWorking = async (id: string) => answers[id] ?? Promise.reject(new Error('no database'))
  const { hub, dial } = await startHub({}, { clock, isKeyWorking })
  const links = await Promise.all(['a1', 'a2', 'a3'].map((id) => dial(id)))
  for (const link of links) await link.hello()
  delete answers['key-a1']
  answers['key-a2'] = false
  answers['key-a3'] = false
  hub.recheck(({ ownerId }) => ownerId !== 'owner-a3')
  assert.equal((await links[1]?.closed)?.code, 4001)
  assert.equal(hub.isConnected('a1'), true)
  answers['key-a1'] = false
  await clock.waitingFor(5)
  await clock.advance(5)
  assert.equal((await links[0]?.closed)?.code, 4001)
  assert.equal(hub.isConnected('a3'), true)
  assert.equal((await (await dial('a2')).closed).code, 4001)
})

test('a link has one hello, and a message with too many values is refused before it is parsed', async () => {
  const { dial } = await startHub()
  await using agent = await dial()
  await agent.hello()
  await assert.rejects(agent.hello(), /one hello/)
  agent.send(`[${'1,'.repeat(1_000_000)}1]`)
  assert.match((await agent.nextRefusal()).message, /more than 1000000 values/)
  await agent.call('beat', {})
})

test('an agent reads one piece of an attachment at a time', async () => {
  const gate = Promise.withResolvers<void>()
  let reads = 0
  const { dial } = await startHub({
    async attachment() {
      reads += 1
      await gate.promise
      return { stale: true }
    },
  })
  await using agent = await dial()
  await agent.hello()
  const piece = { claim_token: 1, index: 0, offset: 0, length: 1 }
  const pieces = ['e1', 'e2', 'e3'].map((id) => agent.call('attachment', { execution_id: id, ...piece }))
  await agent.call('beat', {})
  assert.equal(reads, 1)
  gate.resolve()
  await Promise.all(pieces)
  assert.equal(reads, 3)
})

test('the socket is paused while too many bytes wait', async () => {
  const gate = Promise.withResolvers<void>()
  const stored = new EventEmitter()
  const { sockets, dial } = await startHub({
    async lines(_, { from, lines }) {
      stored.emit('message')
      await gate.promise
      return { acked: from + lines.length - 1 }
    },
  })
  await using agent = await dial()
  await agent.hello()
  const [socket] = sockets.clients
  const send = (execution_id: string) => {
    const lines = [{ type: 'text', text: 'x'.repeat(4 * 1024 * 1024) } as unknown as TranscriptLine]
    const received = once(stored, 'message')
    return { received, answered: agent.call('lines', { execution_id, claim_token: 1, from: 1, lines }) }
  }
  const sent: Promise<unknown>[] = []
  for (const id of ['e1', 'e2', 'e3', 'e4']) {
    assert.equal(socket?.isPaused, false)
    const { received, answered } = send(id)
    sent.push(answered)
    await received
  }
  assert.equal(socket?.isPaused, true)
  gate.resolve()
  await Promise.all(sent)
  assert.equal(socket?.isPaused, false)
})

test('calls are answered by the agent in any order', async () => {
  const { hub, dial } = await startHub()
  await using agent = await dial()
  await agent.hello()
  const gates = new Map<string, () => void>()
  agent.answers['fs.delete'] = ({ path }) =>
    new Promise((resolve) => gates.set(path, () => resolve({ path })))
  const calls = ['/a', '/b'].map((path) => hub.call('a1', 'fs.delete', { path }))
  await agent.next('fs.delete')
  await agent.next('fs.delete')
  gates.get('/b')?.()
  assert.deepEqual(await calls[1], { path: '/b' })
  gates.get('/a')?.()
  assert.deepEqual(await calls[0], { path: '/a' })
})

test("an agent's named error becomes a fault with that name", async () => {
  const { hub, dial } = await startHub()
  await using agent = await dial()
  await agent.hello()
  agent.answers['fs.stat'] = () => ({ error: { code: 'file_not_found', message: 'no such file' } })
  await assert.rejects(
    hub.call('a1', 'fs.stat', { path: '/x' }),
    (error) => error instanceof LinkFault && error.code === 'file_not_found',
  )
})

test('an answer of the wrong shape is a fault', async () => {
  const { hub, dial } = await startHub()
  await using agent = await dial()
  await agent.hello()
  agent.answers['fs.stat'] = () => ({ type: 'file', size: 'large' }) as never
  await assert.rejects(
    hub.call('a1', 'fs.stat', { path: '/x' }),
    (error) => error instanceof LinkFault && error.code === 'invalid_message',
  )
})

test('a missing or ungreeted link is LinkDown', async () => {
  const { hub, dial } = await startHub()
  await assert.rejects(hub.call('a1', 'info', {}), LinkDown)
  await using _ = await dial()
  await assert.rejects(hub.call('a1', 'info', {}), LinkDown)
})

test('a broken link fails its calls with LinkDown', async () => {
  const lost = Promise.withResolvers<string>()
  const { hub, dial } = await startHub({ disconnected: ({ agentId }) => lost.resolve(agentId) })
  const agent = await dial()
  await agent.hello()
  const call = hub.call('a1', 'info', {})
  await agent.next('info')
  agent.cut()
  await assert.rejects(call, LinkDown)
  assert.equal(await lost.promise, 'a1')
  assert.equal(hub.isConnected('a1'), false)
})

test('a missing answer after 30 s is LinkTimeout', async () => {
  const clock = createTestClock()
  const { hub, dial } = await startHub({}, { clock })
  await using agent = await dial()
  await agent.hello()
  const call = assert.rejects(hub.call('a1', 'info', {}), LinkTimeout)
  await agent.next('info')
  await clock.advance(30)
  await call
})

test('an aborted signal rejects the call with its reason', async () => {
  const { hub, dial } = await startHub()
  await using agent = await dial()
  await agent.hello()
  const abort = new AbortController()
  const call = hub.call('a1', 'info', {}, { signal: abort.signal })
  await agent.next('info')
  abort.abort(new Error('gone'))
  await assert.rejects(call, /gone/)
})

test('the newest link wins: the older one is closed with 4009', async () => {
  let lost = 0
  const { hub, dial } = await startHub({ disconnected: () => (lost += 1) })
  const older = await dial()
  await older.hello()
  await using newer = await dial()
  assert.equal((await older.closed).code, 4009)
  await newer.hello()
  assert.equal(hub.isConnected('a1'), true)
  assert.equal(lost, 0)
})

test('a message above 8 MiB closes the link with 1009', async () => {
  const { dial } = await startHub()
  const agent = await dial()
  await agent.hello()
  agent.send(`{"t":"beat","id":1,"pad":"${'x'.repeat(maxMessageBytes)}"}`)
  assert.equal((await agent.closed).code, 1009)
})

test('invalid messages get named errors, and the link stays open', async () => {
  const { dial } = await startHub()
  await using agent = await dial()
  for (const text of [
    'nonsense',
    '[]',
    'null',
    '"text"',
    '{"t":"claim","free":1}',
    '{"id":{},"t":"claim"}',
    '{"id":1.5,"t":"claim"}',
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ]) {
    agent.send(text)
    assert.equal((await agent.nextRefusal()).code, 'invalid_message', text.slice(0, 40))
  }
  const refused = (code: string) => (error: unknown) => (error as { code: string }).code === code
  await assert.rejects(agent.call('claim', { free: 1 }), refused('invalid_message'))
  await agent.hello()
  await assert.rejects(agent.call('claim', { free: -1 }), refused('invalid_message'))
  await assert.rejects(agent.call('claim', {} as never), refused('invalid_message'))
  await assert.rejects(agent.call('toString' as never, {} as never), refused('unknown_message'))
  await assert.rejects(
    agent.call('lines', { execution_id: 'x', claim_token: 1, from: 0, lines: [] }),
    refused('invalid_message'),
  )
  await assert.rejects(
    agent.call('lines', { execution_id: 'x', claim_token: 1, from: 1, lines: [{}] as never }),
    refused('invalid_message'),
  )
  assert.deepEqual(await agent.call('claim', { free: 1 }), { runs: [] })
})

test('a failing handler is answered with io_error without its message, and the link stays open', async () => {
  const { dial } = await startHub({
    claim: async () => {
      throw new Error('secret details')
    },
  })
  await using agent = await dial()
  await agent.hello()
  await assert.rejects(agent.call('claim', { free: 1 }), (error) => {
    assert.doesNotMatch(String(error), /secret details/)
    return (error as { code: string }).code === 'io_error'
  })
  assert.deepEqual(await agent.call('beat', {}), { ok: true })
})

test('messages of one run are processed in order, runs concurrently', async () => {
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const { dial } = await startHub({
    lines: async (_, { execution_id, from }) => {
      if (execution_id === 'slow' && from === 1) await gate.promise
      order.push(`${execution_id}:${from}`)
      return { acked: from }
    },
    partial: async (_, { execution_id, text }) => void order.push(`${execution_id}:${text}`),
  })
  await using agent = await dial()
  await agent.hello()
  const line = [{ type: 'system', subtype: 'notice', level: 'info', message: '' }] as never
  const first = agent.call('lines', { execution_id: 'slow', claim_token: 1, from: 1, lines: line })
  agent.partial({ execution_id: 'slow', claim_token: 1, kind: 'text', text: 'piece' })
  const second = agent.call('lines', { execution_id: 'slow', claim_token: 1, from: 2, lines: line })
  await agent.call('lines', { execution_id: 'quick', claim_token: 1, from: 1, lines: line })
  gate.resolve()
  await Promise.all([first, second])
  assert.deepEqual(order, ['quick:1', 'slow:1', 'slow:piece', 'slow:2'])
})

test('an agent that leaves two pings unanswered is disconnected', async () => {
  const clock = createTestClock()
  const lost = Promise.withResolvers<void>()
  const { dial } = await startHub({ disconnected: () => lost.resolve() }, { clock })
  const agent = await dial()
  await agent.hello()
  // Stops reading like a hung machine, so that pings stay unanswered.
  agent.deaf()
  for (let minute = 0; minute < 3; minute += 1) await clock.advance(30)
  await lost.promise
  agent.cut()
})

test('a call for an agent is forwarded to the process that holds its link', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  const here = await startHub({}, { ephemeral })
  const there = await startHub({}, { ephemeral })
  await using agent = await there.dial()
  agent.answers['fs.stat'] = ({ path }) =>
    path === '/x'
      ? { type: 'file', size: 3, modified: 'now', mode: 0o644 }
      : { error: { code: 'file_not_found', message: 'no' } }
  await agent.hello()
  assert.equal(here.hub.isConnected('a1'), true)
  assert.deepEqual(await here.hub.call('a1', 'fs.stat', { path: '/x' }), {
    type: 'file',
    size: 3,
    modified: 'now',
    mode: 0o644,
  })
  await assert.rejects(here.hub.call('a1', 'fs.stat', { path: '/y' }), LinkFault)
  here.hub.wake('a1')
  await agent.next('wake')
  here.hub.disconnect('a1')
  assert.equal((await agent.closed).code, 1008)
})

test('a wake is sent only to the process with the link, which passes it on when the agent has moved', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  const notices: { k: string; from: string }[] = []
  await ephemeral.subscribe('links', (text) => notices.push(JSON.parse(text)))
  const here = await startHub({}, { ephemeral })
  const there = await startHub({}, { ephemeral })
  const thereId = notices.at(-1)?.from
  await using agent = await there.dial()
  await agent.hello()
  here.hub.wake('a1')
  await agent.next('wake')
  assert.equal(notices.filter(({ k }) => k === 'wake').length, 0)

  const third = await startHub({}, { ephemeral })
  await using moved = await third.dial()
  await moved.hello()
  // As if the notice of the new link had not arrived yet.
  const outdated = { k: 'held', from: thereId, agents: ['a1'], direct_wakes: true }
  await ephemeral.publish('links', JSON.stringify(outdated))
  here.hub.wake('a1')
  await moved.next('wake')
})

test('a process of the previous release receives wakes on the topic that it knows', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  const here = await startHub({}, { ephemeral })
  await ephemeral.publish('links', JSON.stringify({ k: 'held', from: 'previous', agents: ['a9'] }))
  const woken = new Promise<string>((done) => void ephemeral.subscribe('links', done))
  here.hub.wake('a9')
  assert.partialDeepStrictEqual(JSON.parse(await woken), { k: 'wake', agent: 'a9' })
})

test('a newer link in another process replaces the older one', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  const here = await startHub({}, { ephemeral })
  const there = await startHub({}, { ephemeral })
  const older = await here.dial()
  await older.hello()
  await using newer = await there.dial()
  assert.equal((await older.closed).code, 4009)
  await newer.hello()
  assert.equal(here.hub.isConnected('a1'), true)
})

test('a process that starts later learns which agents are linked elsewhere', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  const there = await startHub({}, { ephemeral })
  await using agent = await there.dial()
  await agent.hello()
  const late = await startHub({}, { ephemeral })
  assert.equal(late.hub.isConnected('a1'), true)
})

test('links of a silent process expire', async () => {
  const clock = createTestClock()
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  const here = await startHub({}, { ephemeral, clock })
  await ephemeral.publish('links', JSON.stringify({ k: 'held', from: 'dead', agents: ['a9'] }))
  assert.equal(here.hub.isConnected('a9'), true)
  await clock.advance(17)
  assert.equal(here.hub.isConnected('a9'), false)
})

test('an agent learns the addresses of all processes at the hello, and after a change with a heartbeat', async () => {
  const clock = createTestClock()
  const ephemeral = memoryEphemeral({ clock, log: silentLog })
  const { dial } = await startHub({}, { clock, ephemeral })
  await using agent = await dial()
  assert.deepEqual((await agent.hello()).platform_addresses, [':8001'])
  assert.deepEqual(await agent.call('beat', {}), { ok: true })

  const second = await startHub({}, { clock, ephemeral, own: ['10.0.0.6:8001', ':8002'] })
  assert.deepEqual(second.hub.addresses(), ['10.0.0.6:8001', ':8002', ':8001'])
  await clock.waitingFor(15)
  await clock.advance(15)
  const answer = await agent.call('beat', {})
  assert.deepEqual(answer.platform_addresses, [':8001', '10.0.0.6:8001', ':8002'])
  assert.deepEqual(await agent.call('beat', {}), { ok: true })
})

test('addresses of a process are forgotten ten minutes after its end, and never while the store is down', async () => {
  const clock = createTestClock()
  const store = memoryEphemeral({ clock, log: silentLog })
  let isDown = false
  const ephemeral = {
    ...store,
    get: (key: string) => (isDown ? Promise.reject(new EphemeralDown()) : store.get(key)),
  }
  const ended = await startHub({}, { clock, ephemeral, own: [':8002'] })
  const { hub } = await startHub({}, { clock, ephemeral })
  await ended.hub.close()
  isDown = true
  for (let seconds = 0; seconds < 700; seconds += 5) await clock.advance(5)
  assert.deepEqual(hub.addresses(), [':8001', ':8002'])
  isDown = false
  await clock.advance(15)
  assert.deepEqual(hub.addresses(), [':8001'])
})

test('invalid addresses in the store are ignored', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  const stored = { ':8002': Date.now(), 'evil.example/x:1': Date.now(), '10.0.0.1; reject:1': Date.now() }
  await ephemeral.put('platform-addresses', JSON.stringify(stored), 60)
  assert.deepEqual((await startHub({}, { ephemeral })).hub.addresses(), [':8001', ':8002'])
  await ephemeral.put('platform-addresses', 'damaged', 60)
  assert.deepEqual((await startHub({}, { ephemeral })).hub.addresses(), [':8001'])
})

test('a call to a process that died silently ends as soon as its agent is linked elsewhere', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  let isDead = false
  const ofDead = {
    ...ephemeral,
    publish: async (topic: string, message: string) =>
      isDead ? undefined : ephemeral.publish(topic, message),
    subscribe: (topic: string, listener: (message: string) => void) =>
      ephemeral.subscribe(topic, (message) => isDead || listener(message)),
  }
  const dead = await startHub({}, { ephemeral: ofDead })
  const caller = await startHub({}, { ephemeral })
  const third = await startHub({}, { ephemeral })
  await using stuck = await dead.dial()
  await stuck.hello()
  const lost = assert.rejects(caller.hub.call('a1', 'info', {}), LinkDown)
  await stuck.next('info')
  isDead = true
  await using agent = await third.dial()
  const info = {
    template_yaml: null,
    metrics_json: null,
    runtime_version: null,
    workspace_initialized: true,
  }
  agent.answers.info = () => info
  await agent.hello()
  await lost
  assert.deepEqual(await caller.hub.call('a1', 'info', {}), info)
})
