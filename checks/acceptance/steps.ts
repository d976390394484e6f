/** Steps shared by the acceptance tests. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { docker, execIn } from './engine.ts'
import { eventually, inTime, type Loose, type Platform, type Reply, type RequestOptions } from './platform.ts'

export { docker }

export async function createAgent(platform: Platform, name: string, body: object = {}): Promise<Loose> {
  const reply = await platform.request('POST', '/api/agents', { name, ...body })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

/** Runs one chat turn; the response is one JSON document. */
export function chat(
  platform: Platform,
  agent: string,
  body: string | object,
  { headers, ...options }: RequestOptions & { path?: string } = {},
): Promise<Reply> {
  const message = typeof body === 'string' ? { message: body } : body
  return platform.request('POST', `/api/agents/${agent}/${options.path ?? 'chat'}`, message, {
    ...options,
    headers: { accept: 'application/json', ...headers },
  })
}

/** The response of one chat turn, which must succeed. */
export async function answerOf(platform: Platform, agent: string, body: string | object): Promise<string> {
  const reply = await chat(platform, agent, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.response
}

export type OpenTurn = { id: string; ended: Promise<string> }

/** Starts a turn and reads its stream until it ends. */
export async function beginTurn(platform: Platform, agent: string, message: string): Promise<OpenTurn> {
  const response = await fetch(`${platform.url}/api/agents/${agent}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  })
  assert.equal(response.status, 200)
  return { id: response.headers.get('x-execution-id') ?? assert.fail('no id'), ended: response.text() }
}

export async function execution(platform: Platform, agent: string, id: string): Promise<Loose> {
  return (await platform.request('GET', `/api/agents/${agent}/executions/${id}`)).json
}

export function untilExecution(
  platform: Platform,
  agent: string,
  id: string,
  accept: (row: Loose) => boolean,
): Promise<Loose> {
  return eventually(() => execution(platform, agent, id), accept)
}

export const isSpawned = (row: Loose) => row.status === 'running' && !row.parked
export const isOver = (row: Loose) => !['queued', 'running'].includes(row.status)

/** What an agent is doing, for the message of a failed wait: its state, its runs and the end of its log. */
export async function stateOf(platform: Platform, agent: string): Promise<string> {
  const read = async (path: string) => (await platform.request('GET', `/api/agents/${agent}${path}`)).text
  const runs: Loose[] = JSON.parse(await read('/executions'))
  const texts = [
    await read(''),
    ...runs.map(({ id, status, claimed_at, started_at }) =>
      JSON.stringify({ id, status, claimed_at, started_at }),
    ),
    await docker('logs', '--tail', '40', platform.containerOf(agent)),
    await docker('top', platform.containerOf(agent)),
    platform.output().split('\n').slice(-40).join('\n'),
  ]
  return texts.join('\n')
}

/** The platform's address on the network of an agent's container; the engine omits it for closed ones. */
export const gatewayOf = async (agent: string) =>
  new URL(await execIn(agent, { command: ['printenv', 'ROOST_LINK_URL'] })).hostname

/** The key that the agent itself uses. */
export const agentKeyOf = (agent: string) => execIn(agent, { command: ['printenv', 'ROOST_AGENT_KEY'] })

/** The output of a shell script that runs as the agent does. */
export const runInAgent = (agent: string, script: string) =>
  execIn(agent, { user: 'developer', command: ['sh', '-c', script] })

/** Opens a terminal as a browser does; `closed` resolves with code and reason. */
export async function openTerminal(
  { url, token: ownToken, request }: Platform,
  agent: string,
  token = ownToken,
) {
  const { ticket } = (await request('POST', '/api/ws/ticket', undefined, { token })).json
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/agents/${agent}/terminal?ticket=${ticket}`)
  socket.binaryType = 'arraybuffer'
  let text = ''
  socket.addEventListener('message', ({ data }) => {
    text += Buffer.from(data as ArrayBuffer).toString()
  })
  const closed = new Promise<{ code: number; reason: string }>((done) =>
    socket.addEventListener('close', ({ code, reason }) => done({ code, reason })),
  )
  await inTime(Promise.race([once(socket, 'open'), closed]), 'a terminal opens or is refused')
  return {
    socket,
    get closed() {
      return inTime(closed, 'a terminal closes')
    },
    type: (keys: string) => socket.send(Buffer.from(keys)),
    /** Output up to the expected text, since the previous call. */
    async until(expected: string) {
      await eventually(async () => text.includes(expected) || socket.readyState > 1, Boolean)
      const end = text.indexOf(expected) + expected.length
      assert.ok(end >= expected.length, `not ${expected} in ${text.slice(-300)}`)
      const before = text.slice(0, end)
      text = text.slice(end)
      return before
    },
  }
}

/** A shape for `assertShape` from the field names of each type, separated by spaces. */
export function shapeOf(fields: Record<string, string>): Record<string, string> {
  const pairs = Object.entries(fields).flatMap(([type, names]) =>
    names.split(' ').map((field) => [field, type] as const),
  )
  return Object.fromEntries(pairs)
}

/** Asserts `field: type` pairs, to compare a response with its documented shape. */
export function assertShape(value: Loose, shape: Record<string, string>, what: string): void {
  assert.ok(value !== null && typeof value === 'object', `${what} is an object`)
  for (const [field, type] of Object.entries(shape)) {
    const isOptional = type.endsWith('?')
    const found = value[field]
    if (found === null || found === undefined) {
      assert.ok(isOptional, `${what}.${field} is there: ${JSON.stringify(value).slice(0, 500)}`)
      continue
    }
    const kind = Array.isArray(found) ? 'array' : typeof found
    assert.equal(kind, type.replace('?', ''), `${what}.${field}`)
  }
}
