import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { AgentParams } from '@roost/contracts/kit/primitives'
import { Fault } from '../kit/fault.ts'
import { silentLog } from '../ports/log.ts'
import { createAccessRevocation } from './access-revocation.ts'
import { agentRoute, streamAnswer } from './route.ts'
import { createServer } from './serve.ts'

const base = { tag: 'Test', summary: 'Test', access: { who: 'access' }, params: AgentParams } as const
const stream = endpoint({
  ...base,
  id: 'stream',
  method: 'GET',
  path: '/{name}/stream',
  streams: ['text/plain'],
})
const wait = endpoint({
  ...base,
  id: 'wait',
  method: 'GET',
  path: '/{name}/wait',
  fails: ['sync_wait_exceeded'],
})

const agent = { id: 'a1', name: 'scout', owner_id: 'u1', is_system: false }
const caller = {
  kind: 'session' as const,
  user: { id: 'u2', username: 'ben', email: null, role: 'user' as const },
  session: { jti: 'j', mode: 'email' as const, expires_at: '' },
}

/** One agent, one caller who reaches it while `reaches` says so, and replies that end only by their signal. */
function open(reaches: (name: string) => boolean) {
  const accessRevocation = createAccessRevocation()
  const begun = Promise.withResolvers<void>()
  const ended = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
      begun.resolve()
    })
  const server = createServer({
    routes: [
      agentRoute(stream, async ({ request }) => {
        async function* pieces() {
          yield 'first '
          await ended(request.signal)
        }
        return streamAnswer('text/plain', pieces())
      }),
      agentRoute(wait, async ({ request }) => {
        await ended(request.signal)
        throw new Fault('sync_wait_exceeded', undefined, { execution_id: 'secret' })
      }),
    ],
    guard: async (_access, _authorization, name = '') => {
      if (!reaches(name)) throw new Fault('agent_not_found')
      return { caller, agent, relation: 'shared' }
    },
    accessRevocation,
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  return { accessRevocation, server, begun: begun.promise }
}

test('a stream ends when its caller loses access to the agent, and not when somebody else does', async () => {
  let isShared = true
  const { accessRevocation, server, begun } = open((name) => name === 'scout' && isShared)
  let over = false
  const reply = server.inject('/scout/stream').then((answer) => {
    over = true
    return answer
  })
  await begun
  accessRevocation.recheck({ id: 'a2', name: 'other' })
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  await new Promise(setImmediate)
  assert.equal(over, false)
  isShared = false
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  assert.equal((await reply).body, 'first ')
})

test('404 for an answer that was waited for when access was lost, without a word of it', async () => {
  let isShared = true
  const { accessRevocation, server, begun } = open(() => isShared)
  const reply = server.inject('/scout/wait')
  await begun
  isShared = false
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  const { statusCode, body } = await reply
  assert.equal(statusCode, 404)
  assert.ok(!body.includes('secret'))
})

test('the agent is asked for under its present name', async () => {
  let present = 'scout'
  const { accessRevocation, server, begun } = open((name) => name === present)
  const asked: string[] = []
  const reply = server.inject('/scout/stream').then(({ body }) => asked.push(body))
  await begun
  present = 'renamed'
  accessRevocation.recheck({ id: 'a1', name: 'renamed' })
  await new Promise(setImmediate)
  assert.deepEqual(asked, [])
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  await reply
  assert.deepEqual(asked, ['first '])
})

test('access that was lost while the caller was being admitted ends the reply too', async () => {
  const accessRevocation = createAccessRevocation()
  const before = accessRevocation.revocationEpoch()
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  const ended = Promise.withResolvers<void>()
  accessRevocation.watch(
    { agent, ask: async () => Promise.reject(new Fault('agent_not_found')), end: ended.resolve },
    before,
  )
  await ended.promise
})

test('a reply that is over is not asked for any more', async () => {
  const accessRevocation = createAccessRevocation()
  const asked: string[] = []
  const ask = async (name: string) => void asked.push(name)
  const leave = accessRevocation.watch(
    { agent, ask, end: () => asked.push('ended') },
    accessRevocation.revocationEpoch(),
  )
  leave()
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  assert.deepEqual(asked, [])
})

test('a stream ends when its caller is no longer who it was, and not when somebody else is', async () => {
  let isKnown = true
  const { accessRevocation, server, begun } = open((name) => name === 'scout' && isKnown)
  let over = false
  const reply = server.inject('/scout/stream').then((answer) => {
    over = true
    return answer
  })
  await begun
  const isBen = (asked: { kind: string }) => asked === caller
  accessRevocation.recheckCallers(isBen)
  isKnown = false
  accessRevocation.recheckCallers((asked) => !isBen(asked))
  await new Promise(setImmediate)
  assert.equal(over, false)
  accessRevocation.recheckCallers(isBen)
  assert.equal((await reply).body, 'first ')
})
