import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Role } from '@roost/contracts/kit/access'
import { terminalChunkBytes } from '@roost/contracts/link/exec'
import { WebSocket } from 'ws'
import { type SocketAttempt, serveSockets } from '../../../http/sockets.ts'
import type { SignedIn } from '../../../identity/access/index.ts'
import type { FakeAnswers } from '../../../ports/agent-link/fake.ts'
import { silentLog } from '../../../ports/log.ts'
import { openTestDatabase } from '../../../test/dialects.ts'
import { openAgents } from '../../test/world.ts'

export type TerminalWorld = Awaited<ReturnType<typeof openTerminalWorld>>

/** A running agent `scout` of the creator `ann` with a scripted shell. */
export async function openTerminalWorld() {
  const tickets = new Map<string, SignedIn>()
  const world = await openAgents(await openTestDatabase(), {
    needs: {
      async redeemTicket(ticket) {
        const caller = tickets.get(ticket) ?? null
        tickets.delete(ticket)
        return caller
      },
    },
  })
  const attempts: SocketAttempt[] = []
  const server = createServer()
  const served = serveSockets(server, world.area.socketRoutes, silentLog, {
    onSocket: (attempt) => attempts.push(attempt),
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** A person signed in with a session. */
  async function person(role: Role, name: string) {
    const account = await world.identity.addUser(role, name)
    const entered = await world.identity.sessions.secondStep.enter(account, { mode: 'email' })
    assert.ok('session' in entered)
    const token = entered.session.access_token
    const caller = await world.identity.identify(`Bearer ${token}`)
    assert.ok(caller.kind === 'session')
    return { ...account, token, caller }
  }

  const owner = await person('creator', 'ann@example.org')
  assert.equal((await world.request(owner.token, 'POST', '/api/agents', { name: 'scout' })).status, 200)
  const { id: agentId } = await world.row('scout')
  const shell = pretendShell()
  world.link.link(agentId, shell.answers)

  return {
    ...world,
    agentId,
    owner,
    shell,
    attempts,
    person,
    /** Connects with a ticket of this caller, or with an invalid one for null. */
    dial(caller: SignedIn | null, agent = 'scout') {
      const ticket = `ticket-${tickets.size}-${Math.random()}`
      if (caller) tickets.set(ticket, caller)
      return connect(`${url}/api/agents/${agent}/terminal?ticket=${ticket}`)
    },
    /** Asserts the close code and reason. */
    async closedAs(client: Client, code: number, reason?: RegExp) {
      const closed = await client.closed
      assert.equal(closed.code, code, closed.reason)
      if (reason) assert.match(closed.reason, reason)
    },
    async [Symbol.asyncDispose]() {
      await world.area.terminals.close()
      served.close()
      server.close()
      await world[Symbol.asyncDispose]()
    },
  }
}

export type Client = Awaited<ReturnType<typeof connect>>

async function connect(url: string) {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  let text = ''
  let arrived = Promise.withResolvers<void>()
  const notify = () => {
    arrived.resolve()
    arrived = Promise.withResolvers()
  }
  socket.on('message', (data, isBinary) => {
    assert.ok(isBinary, 'output is binary')
    text += String(data)
    notify()
  })
  socket.on('error', () => {})
  const closed = once(socket, 'close').then(([code, reason]) => ({
    code: Number(code),
    reason: String(reason),
  }))
  await Promise.race([once(socket, 'open'), closed])
  return {
    socket,
    closed,
    text: () => text,
    type: (keys: string) => socket.send(Buffer.from(keys)),
    say: (message: string) => socket.send(message),
    async until(expected: string) {
      while (!text.includes(expected)) await arrived.promise
    },
  }
}

/** The program at the agent's end of every terminal. */
export function pretendShell() {
  let output = Buffer.alloc(0)
  let ended: { exit_code: number } | null = null
  let typed = Buffer.alloc(0)
  let changed = Promise.withResolvers<void>()
  const state = {
    opened: 0,
    closed: 0,
    reads: 0,
    writes: 0,
    sizes: [] as { cols: number; rows: number }[],
    /** Bytes accepted per message. */
    takes: Number.POSITIVE_INFINITY,
    outcome: 'opened' as 'opened' | 'too_many' | 'unavailable',
    /** Produces endless output. */
    isEndless: false,
  }
  const notify = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const answers: FakeAnswers = {
    'exec.open'({ cols, rows }) {
      state.sizes.push({ cols, rows })
      if (state.outcome === 'opened') state.opened += 1
      notify()
      return { outcome: state.outcome }
    },
    'exec.data'({ offset, data_base64 }) {
      assert.ok(offset <= typed.length, 'no input is missing')
      const rest = Buffer.from(data_base64, 'base64').subarray(typed.length - offset)
      typed = Buffer.concat([typed, rest.subarray(0, state.takes)])
      state.writes += 1
      notify()
      return { taken: typed.length }
    },
    async 'exec.read'({ offset }) {
      state.reads += 1
      notify()
      if (state.isEndless)
        return { data_base64: Buffer.alloc(terminalChunkBytes, 'y').toString('base64'), ended: null }
      while (output.length <= offset && ended === null) await changed.promise
      const piece = output.subarray(offset, offset + terminalChunkBytes)
      return { data_base64: piece.toString('base64'), ended: piece.length === 0 ? ended : null }
    },
    'exec.resize'({ cols, rows }) {
      state.sizes.push({ cols, rows })
      notify()
      return { ok: true }
    },
    'exec.close'() {
      state.closed += 1
      notify()
      return { ok: true }
    },
  }
  return {
    state,
    answers,
    write(text: string) {
      output = Buffer.concat([output, Buffer.from(text)])
      notify()
    },
    exit(exit_code: number) {
      ended = { exit_code }
      notify()
    },
    typed: () => typed.toString(),
    async until(isSo: () => boolean) {
      while (!isSo()) await changed.promise
    },
  }
}
