/** Three API processes and MCP servers behind nginx without sticky sessions. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { whyNoCli } from '@roost/test-support/model/testing/cli-process'
import { openClaude, openCodex, openGemini } from '@roost/test-support/model/testing/clis'
import { WebSocket } from 'ws'
import { collect, eventually, type Loose, type Platform } from './platform.ts'
import { missingForReplicas, type Replica, type Replicas, startReplicas } from './replicas.ts'
import { hasProgram } from './reverse-proxies.ts'
import { createAgent } from './steps.ts'

const keepaliveSeconds = 1
/** Stands for the minute that proxies have by default. */
const idleLimitSeconds = 8
/** A turn that is silent for longer than the proxy waits. */
const slow = (text: string) => `[[sleep:${idleLimitSeconds + 2}]] [[reply:${text}]]`
const agent = 'qa-replica'

describe('three replicas behind nginx', { skip: missingForReplicas }, () => {
  let all: Replicas
  let platform: Platform
  /** Through a proxy with the idle limit. */
  let impatient: Platform
  let key: string
  before(async () => {
    all = await startReplicas({
      count: 3,
      env: {
        ROOST_KEEPALIVE_SECONDS: String(keepaliveSeconds),
        // Longer than the idle limit: the server has to keep the connection alive.
        ROOST_MCP_CHAT_TIMEOUT_MS: '120000',
      },
    })
    platform = all.platform
    impatient = await all.throughIdleLimit(idleLimitSeconds)
    await createAgent(platform, agent)
    key = (await platform.request('POST', '/api/mcp/keys', { name: 'replicas' })).json.key
  })
  after(() => all?.[Symbol.asyncDispose]())

  const replica = (index: number): Replica => all.replicas[index] ?? assert.fail(`no replica ${index}`)

  async function connect(url = `${platform.url}/mcp`) {
    const client = new Client({ name: 'replicas', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit })
    await client.connect(transport)
    return { client, transport }
  }

  async function call(client: Client, message: string, more: object = {}, options: object = {}) {
    const input = { agent_name: agent, message, parallel: true, ...more }
    const result: Loose = await client.callTool({ name: 'chat_with_agent', arguments: input }, options)
    return JSON.parse(result.content[0].text)
  }

  /** The status that a replica answers for a session, without the proxy. */
  async function statusAt({ mcpUrl }: Replica, session: string): Promise<number> {
    const response = await fetch(mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list' }),
    })
    await response.text()
    return response.status
  }

  test('an MCP session lists, calls and reports progress at every replica, also after one was killed', async () => {
    const { client, transport } = await connect()
    for (let round = 0; round < 3; round += 1) {
      assert.ok((await client.listTools()).tools.some(({ name }) => name === 'chat_with_agent'))
      assert.equal((await call(client, `[[reply:round ${round}]]`)).response, `round ${round}`)
    }
    const progress: unknown[] = []
    const onprogress = (event: unknown) => progress.push(event)
    const waiting = await connect(`${impatient.url}/mcp`)
    const late = await call(waiting.client, slow('late'), {}, { onprogress, timeout: 120_000 })
    assert.equal(late.response, 'late')
    await waiting.client.close()
    assert.ok(progress.length > 0)
    await replica(2).kill()
    for (let round = 0; round < 3; round += 1)
      assert.equal((await call(client, `[[reply:after ${round}]]`)).response, `after ${round}`)
    await replica(2).start()
    const session = transport.sessionId ?? assert.fail('no session')
    for (const each of all.replicas) assert.equal(await statusAt(each, session), 200)
    await client.close()
  })

  test('a session that its client ended is unknown to every replica', async () => {
    const { client, transport } = await connect()
    const session = transport.sessionId ?? assert.fail('no session')
    for (const each of all.replicas) assert.equal(await statusAt(each, session), 200)
    await transport.terminateSession()
    for (const each of all.replicas) assert.equal(await statusAt(each, session), 404)
    await client.close()
  })

  test('a call whose replica is killed fails; repeated with its key at another one it is the same run', async () => {
    const { client } = await connect(replica(1).mcpUrl)
    const message = '[[hold:killed]] [[reply:once]]'
    const idempotency_key = 'killed in the middle'
    const lost = assert.rejects(call(client, message, { idempotency_key }))
    await platform.model.waitForRequest((request) => request.user_text?.includes('hold:killed') ?? false)
    await replica(1).kill()
    await lost
    const through = await connect()
    const repeated = await call(through.client, message, { idempotency_key })
    assert.equal(repeated.status, 'request_in_progress', JSON.stringify(repeated))
    platform.model.release('killed')
    await eventually(
      async () =>
        (await platform.request('GET', `/api/agents/${agent}/executions/${repeated.execution_id}`)).json,
      ({ status, response }) => status === 'success' && response === 'once',
    )
    assert.equal((await call(through.client, message, { idempotency_key })).response, 'once')
    await replica(1).start()
    await Promise.allSettled([client.close(), through.client.close()])
  })

  for (const [name, open, prefix, model] of [
    ['claude', openClaude, 'mcp__roost__', {}],
    ['gemini', openGemini, 'mcp_roost_', {}],
    // With later models codex runs scripts, which the scripted model cannot write for this tool.
    ['codex', openCodex, 'mcp__roost__', { model: 'gpt-5' }],
  ] as const) {
    test(`${name} connects, lists and calls a tool, with a replica killed in between`, {
      skip: whyNoCli(name),
    }, async (context) => {
      const tools = { url: `${platform.url}/mcp`, key }
      const cli = await open({ url: platform.model.url, key: 'k', tools })
      context.after(() => cli.close())
      const input = { agent_name: agent, message: `hello from ${name}`, parallel: true }
      const hold = `cli-${name}`
      // The model answers with the call only after the replica is gone; the client has connected before.
      const asked = cli.ask({
        text: `[[hold:${hold}]] [[tool:${prefix}chat_with_agent:${JSON.stringify(input)}]]`,
        ...model,
      })
      const isHeld = platform.model.waitForRequest(
        (request) => request.user_text?.includes(`hold:${hold}`) ?? false,
      )
      await Promise.race([isHeld, asked.then((answer) => assert.fail(JSON.stringify(answer.lines)))])
      await replica(2).kill()
      context.after(() => replica(2).start())
      platform.model.release(hold)
      const answer = await asked
      assert.match(
        answer.text,
        new RegExp(`ok: hello from ${name}`),
        JSON.stringify(answer.lines).slice(-3000),
      )
    })
  }

  test('a streamed chat and a waiting fan-out outlast the idle limit of the proxy', async () => {
    const tasks = { tasks: [{ message: slow('one') }, { message: slow('two') }] }
    const [fanOut, objects] = await Promise.all([
      impatient.request('POST', `/api/agents/${agent}/fan-out`, tasks),
      collect(impatient.stream(`/api/agents/${agent}/chat`, { message: slow('streamed') })),
    ])
    assert.equal(fanOut.status, 200, fanOut.text)
    assert.match(fanOut.text, /^ +\{/)
    assert.deepEqual(
      fanOut.json.results.map(({ response }: Loose) => response),
      ['one', 'two'],
    )
    assert.ok(objects.some(({ type }) => type === 'keepalive'))
    assert.equal(objects.at(-1)?.type, 'done')
  })

  test('a waiting task is cut by the proxy; with Prefer: wait it ends in time, and its run goes on', async () => {
    const path = `/api/agents/${agent}/task`
    const cut = await impatient.request('POST', path, { message: slow('cut') })
    assert.equal(cut.status, 504)
    assert.equal(cut.json, null, 'a page of nginx')
    const headers = { prefer: `wait=2`, 'idempotency-key': 'long task' }
    const early = await impatient.request('POST', path, { message: slow('in time') }, { headers })
    assert.deepEqual([early.status, early.json.error], [504, 'sync_wait_exceeded'])
    const { execution_id } = early.json
    const row = await eventually(
      async () => (await platform.request('GET', `/api/agents/${agent}/executions/${execution_id}`)).json,
      ({ status }) => status === 'success',
    )
    assert.equal(row.response, 'in time')
  })

  test('an event of one replica reaches the sockets of all', async () => {
    const sockets = await Promise.all(
      all.replicas.map(async ({ url }) => {
        const { ticket } = (await platform.request('POST', '/api/ws/ticket')).json
        const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?ticket=${ticket}`)
        const heard = new Promise<void>((resolve, reject) => {
          socket.on('message', (text) => String(text).includes(agent) && resolve())
          socket.on('close', (code) => reject(new Error(`closed with ${code}`)))
        })
        await new Promise<void>((resolve) => socket.once('open', () => resolve()))
        return { socket, heard }
      }),
    )
    await platform.request('POST', `/api/agents/${agent}/task`, { message: '[[reply:x]]' })
    await Promise.all(sockets.map(({ heard }) => heard))
    for (const { socket } of sockets) socket.terminate()
  })

  for (const [proxy, open] of [
    ['nginx', async () => platform],
    ['Caddy', () => all.throughCaddy()],
  ] as const) {
    describe(`${proxy} with three upstreams`, {
      skip: proxy === 'Caddy' && !hasProgram('caddy') && 'caddy is not installed',
    }, () => {
      let through: Platform
      before(async () => {
        through = await open()
      })

      async function openSocket() {
        const { ticket } = (await through.request('POST', '/api/ws/ticket')).json
        const socket = new WebSocket(`${through.url.replace('http', 'ws')}/ws?ticket=${ticket}`)
        const closed = once(socket, 'close')
        const heard: string[] = []
        socket.on('message', (text) => heard.push(String(text)))
        await once(socket, 'open')
        return { socket, closed, heard: (text: string) => heard.some((message) => message.includes(text)) }
      }

      test('answers arrive in pieces, from whichever replica', async () => {
        for (let round = 0; round < 3; round += 1) {
          const hold = `pieces-${proxy}-${round}`
          const message = `[[hold:${hold}]][[reply:piece ${round}]]`
          const stream = through.stream(`/api/agents/${agent}/chat`, { message })
          const pieces = stream[Symbol.asyncIterator]()
          // The model answers only after this piece has arrived.
          assert.equal((await pieces.next()).value?.subtype, 'accepted')
          platform.model.release(hold)
          const rest = await collect({ [Symbol.asyncIterator]: () => pieces })
          assert.equal(rest.at(-1)?.type, 'done')
        }
      })

      test('when a replica is killed, its sockets are cut, the others go on, and new ones open', async () => {
        const sockets = await Promise.all(Array.from({ length: 9 }, openSocket))
        await replica(1).kill()
        const cut = (each: (typeof sockets)[number]) => each.socket.readyState !== WebSocket.OPEN
        // A proxy cuts the connections whose upstream has ended, and no others.
        await Promise.race(sockets.map(({ closed }) => closed))
        const late = await openSocket()
        const { json } = await through.request('POST', `/api/agents/${agent}/task`, {
          ...{ message: '[[reply:seen]]', async_mode: true },
        })
        const { execution_id } = json
        await eventually(
          async () => [...sockets.filter((each) => !cut(each)), late].map(({ heard }) => heard(execution_id)),
          (seen) => seen.length > 1 && seen.every(Boolean),
        )
        for (const { socket } of [...sockets, late]) socket.terminate()
        await replica(1).start()
      })

      test('with one replica killed, no request fails that it had not received', async () => {
        await replica(1).kill()
        // Caddy up to 2.11.1 repeats no request with a body. It stops using a process at the first failed request.
        const reads = Array.from({ length: 9 }, () => through.request('GET', '/api/agents'))
        for (const reply of await Promise.all(reads)) assert.equal(reply.status, 200, reply.text)
        for (let round = 0; round < 12; round += 1) {
          const value = { value: round }
          const replies = await Promise.all([
            through.request('GET', '/api/agents'),
            through.request('PUT', '/api/users/me/preferences/replicas', value),
            through.request('POST', `/api/agents/${agent}/task`, {
              message: '[[reply:x]]',
              async_mode: true,
            }),
          ])
          for (const reply of replies) assert.ok(reply.status < 300, `${reply.status} ${reply.text}`)
        }
        await replica(1).start()
      })

      test('the largest file passes, whichever replica gets it', async () => {
        const content = 'x'.repeat(5 * 1024 * 1024)
        for (let round = 0; round < 3; round += 1) {
          const path = `path=${proxy}-${round}.txt`
          const saved = await through.request('PUT', `/api/agents/${agent}/files?${path}`, { content })
          assert.equal(saved.status, 200, saved.text.slice(0, 300))
          const read = await through.request('GET', `/api/agents/${agent}/files/download?${path}`)
          assert.equal(read.text.length, content.length)
        }
      })
    })
  }
})
