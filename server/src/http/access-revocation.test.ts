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

/** One agent, one caller with access while `hasAccess` is true, and responses that end only by their signal. */
function open(hasAccess: (name: string) => boolean, mayReceive = () => true) {
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
        request.endUnless(({ kind }) => kind === 'anonymous' || mayReceive())
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
      if (!hasAccess(name)) throw new Fault('agent_not_found')
      return { caller, agent, relation: 'shared' }
    },
    accessRevocation,
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  return { accessRevocation, server, begun: begun.promise }
}

test('a stream ends when its caller loses access to the agent, not when another caller does', async () => {
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

test('a stream ends when its caller still has access, but may no longer receive it', async () => {
  let isAdmin = true
  const { accessRevocation, server, begun } = open(
    () => true,
    () => isAdmin,
  )
  const reply = server.inject('/scout/stream')
  await begun
  accessRevocation.recheckCallers(() => true)
  isAdmin = false
  accessRevocation.recheckCallers(() => true)
  assert.equal((await reply).body, 'first ')
})

test('404 without the result for a wait during which access was lost', async () => {
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

test('access is checked under the current name of the agent', async () => {
  let present = 'scout'
  const { accessRevocation, server, begun } = open((name) => name === present)
  const checked: string[] = []
  const reply = server.inject('/scout/stream').then(({ body }) => checked.push(body))
  await begun
  present = 'renamed'
  accessRevocation.recheck({ id: 'a1', name: 'renamed' })
  await new Promise(setImmediate)
  assert.deepEqual(checked, [])
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  await reply
  assert.deepEqual(checked, ['first '])
})

test('access lost during admission ends the response too', async () => {
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

test('a finished response is not checked again', async () => {
  const accessRevocation = createAccessRevocation()
  const checked: string[] = []
  const ask = async (name: string) => void checked.push(name)
  const unwatch = accessRevocation.watch(
    { agent, ask, end: () => checked.push('ended') },
    accessRevocation.revocationEpoch(),
  )
  unwatch()
  accessRevocation.recheck({ id: 'a1', name: 'scout' })
  assert.deepEqual(checked, [])
})

test('a stream ends when its caller changes, not when another caller does', async () => {
  let isKnown = true
  const { accessRevocation, server, begun } = open((name) => name === 'scout' && isKnown)
  let over = false
  const reply = server.inject('/scout/stream').then((answer) => {
    over = true
    return answer
  })
  await begun
  const isBen = (checked: { kind: string }) => checked === caller
  accessRevocation.recheckCallers(isBen)
  isKnown = false
  accessRevocation.recheckCallers((checked) => !isBen(checked))
  await new Promise(setImmediate)
  assert.equal(over, false)
  accessRevocation.recheckCallers(isBen)
  assert.equal((await reply).body, 'first ')
})
