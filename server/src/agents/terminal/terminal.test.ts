import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { terminalFrameLimit, terminalIdleSeconds } from '@roost/contracts/agents/terminal'
import { LinkFault } from '../../ports/agent-link/port.ts'
import { until } from '../test/world.ts'
import { bytesPerSecond, createPace, readFrame } from './rules.ts'
import { openTerminalWorld } from './test/world.ts'

describe('terminal access', () => {
  test('only the owner and an admin with a session; an agent without access looks like an unknown one', async () => {
    await using world = await openTerminalWorld()
    const { owner } = world
    const admin = await world.person('admin', 'root@example.org')
    const shared = await world.person('user', 'sue@example.org')
    const stranger = await world.person('user', 'joe@example.org')
    await world.request(owner.token, 'POST', '/api/agents/scout/share', { email: 'sue@example.org' })
    for (const { caller } of [owner, admin]) {
      const client = await world.dial(caller)
      client.type('x')
      await world.shell.until(() => world.shell.typed() !== '')
      client.socket.close()
      await client.closed
    }
    const key = (scope: 'user' | 'system', { caller }: typeof owner) => ({
      kind: 'key' as const,
      user: caller.user,
      key: { id: 'k', name: 'k', scope, agent_id: null },
    })
    for (const caller of [shared.caller, stranger.caller, key('user', owner), key('system', admin)]) {
      await world.closedAs(await world.dial(caller), 4003)
    }
    for (const { caller } of [owner, admin, stranger]) {
      await world.closedAs(await world.dial(caller, 'none'), 4003)
    }
    await world.closedAs(await world.dial(null), 4001)
    await world.closedAs(await world.dial(null, 'none'), 4001)
    const stopped = world.attempts.filter(({ why }) => why !== null)
    assert.ok(stopped.every(({ target }) => target?.type === 'agent'))
    assert.equal(world.attempts.length - stopped.length, 2)
  })

  test('an ended session, a lost role and a suspended account close it immediately', async () => {
    await using world = await openTerminalWorld()
    const { owner, identity } = world
    const boss = await world.person('admin', 'root@example.org')
    const other = await world.person('admin', 'two@example.org')
    const [first, second, third] = [
      await world.dial(owner.caller),
      await world.dial(boss.caller),
      await world.dial(other.caller),
    ]
    await world.shell.until(() => world.shell.state.opened === 3)
    await identity.sessions.logout(owner.caller)
    await world.closedAs(first, 4001)
    await identity.people.setRole(boss.caller, 'two@example.org', 'user')
    await world.closedAs(third, 4003)
    identity.changes.announce({ user_id: boss.id })
    second.type('still here')
    await world.shell.until(() => world.shell.typed().includes('still here'))
    await world.shell.until(() => world.shell.state.closed === 2)
  })
})

describe('the end of a terminal', () => {
  test('the exit code is reported after the last output', async () => {
    await using world = await openTerminalWorld()
    const client = await world.dial(world.owner.caller)
    world.shell.write('bye\r\n')
    world.shell.exit(3)
    await world.closedAs(client, 1000, /^exit 3$/)
    assert.equal(client.text(), 'bye\r\n')
    await world.shell.until(() => world.shell.state.closed === 1)
  })

  test('4004 from a stopped agent, and from one that is stopped later', async () => {
    await using world = await openTerminalWorld()
    const client = await world.dial(world.owner.caller)
    await world.shell.until(() => world.shell.state.opened === 1)
    const stopped = await world.request(world.owner.token, 'POST', '/api/agents/scout/stop')
    assert.equal(stopped.status, 200)
    world.link.unlink(world.agentId)
    await world.closedAs(client, 4004)
    await world.closedAs(await world.dial(world.owner.caller), 4004)
  })

  test('a disconnected client ends the shell, and an unresponsive one is closed', async () => {
    await using world = await openTerminalWorld()
    const client = await world.dial(world.owner.caller)
    await world.shell.until(() => world.shell.state.reads === 1)
    client.socket.terminate()
    await world.shell.until(() => world.shell.state.closed === 1)
    const hung = await world.dial(world.owner.caller)
    await world.shell.until(() => world.shell.state.reads === 2)
    hung.socket.pause()
    for (let pings = 0; pings < 3; pings += 1) await world.clock.advance(30)
    await world.shell.until(() => world.shell.state.closed === 2)
    hung.socket.terminate()
  })

  test('closes after half an hour of inactivity; input restarts the time', async () => {
    await using world = await openTerminalWorld()
    const client = await world.dial(world.owner.caller)
    /** One check after the given time. */
    const pass = async (seconds: number) => {
      const looked = once(client.socket, 'ping')
      world.clock.set(new Date(world.clock.now().getTime() + seconds * 1000))
      await world.clock.advance(0)
      await Promise.race([looked, client.closed])
    }
    await world.shell.until(() => world.shell.state.reads > 0)
    await pass(terminalIdleSeconds - 60)
    client.type('x')
    await world.shell.until(() => world.shell.typed() === 'x')
    await pass(terminalIdleSeconds - 60)
    assert.equal(client.socket.readyState, client.socket.OPEN)
    await pass(60)
    await world.closedAs(client, 4008)
  })

  test('a stopping platform reports it and ends the shell', async () => {
    await using world = await openTerminalWorld()
    const client = await world.dial(world.owner.caller)
    await world.shell.until(() => world.shell.state.opened === 1)
    await world.area.terminals.close()
    assert.equal(world.shell.state.closed, 1)
    await world.closedAs(client, 1001)
  })
})

describe('replies of the agent', () => {
  test('an older program closes with 4026 and the remedy', async () => {
    await using world = await openTerminalWorld()
    world.shell.answers['exec.open'] = () => {
      throw new LinkFault({ code: 'unknown_message', message: 'There is no message "exec.open".' })
    }
    await world.closedAs(await world.dial(world.owner.caller), 4026, /restart the agent/)
  })

  for (const [outcome, code] of [
    ['too_many', 4029],
    ['unavailable', 1011],
  ] as const) {
    test(`${outcome} closes with ${code}`, async () => {
      await using world = await openTerminalWorld()
      world.shell.state.outcome = outcome
      await world.closedAs(await world.dial(world.owner.caller), code, /./)
      assert.equal(world.shell.state.opened, 0)
    })
  }

  test('after a link outage nothing is lost or duplicated', async () => {
    await using world = await openTerminalWorld()
    const { shell } = world
    const client = await world.dial(world.owner.caller)
    shell.write('one ')
    await client.until('one ')
    world.link.unlink(world.agentId)
    client.type('typed meanwhile')
    shell.write('two')
    await world.clock.waitingFor(0.25, 2)
    world.link.link(world.agentId, shell.answers)
    await world.clock.advance(1)
    await client.until('two')
    await shell.until(() => shell.typed() === 'typed meanwhile')
    assert.equal(client.text(), 'one two')
  })

  test('a permanently broken link ends the terminal', async () => {
    await using world = await openTerminalWorld()
    const client = await world.dial(world.owner.caller)
    await world.shell.until(() => world.shell.state.reads > 0)
    world.link.unlink(world.agentId)
    await world.clock.waitingFor(0.25)
    await world.clock.advance(25)
    await world.closedAs(client, 1011, /does not answer/)
  })
})

describe('flow control', () => {
  test('input arrives complete and in order, however little is accepted at a time, along with sizes', async () => {
    await using world = await openTerminalWorld()
    const { shell } = world
    shell.state.takes = 10_000
    const client = await world.dial(world.owner.caller)
    const pasted = Array.from({ length: 60_000 }, (_, index) => String(index)).join(' ')
    client.say('{"type":"resize","cols":100,"rows":40}')
    client.say('{"type":"resize","cols":0,"rows":40}')
    for (let at = 0; at < pasted.length; at += 50_000) client.type(pasted.slice(at, at + 50_000))
    client.say('{"type":"resize","cols":120,"rows":50}')
    await shell.until(() => shell.typed() === pasted && shell.state.sizes.some(({ cols }) => cols === 120))
    assert.ok(shell.state.sizes.every(({ cols }) => cols > 0))
  })

  test('input that a program does not take is offered again after a pause', async () => {
    await using world = await openTerminalWorld()
    const { shell } = world
    shell.state.takes = 0
    const client = await world.dial(world.owner.caller)
    client.type('x')
    await shell.until(() => shell.state.writes === 1)
    await world.clock.waitingFor(0.25)
    assert.equal(shell.state.writes, 1)
    shell.state.takes = 1
    await world.clock.advance(1)
    await shell.until(() => shell.typed() === 'x')
    assert.equal(shell.state.writes, 2)
  })

  test('output of an endless program is limited to the configured rate', async () => {
    await using world = await openTerminalWorld()
    world.shell.state.isEndless = true
    await world.dial(world.owner.caller)
    await until(() => world.clock.waits().some((seconds) => seconds < 1), 'the rate limit')
    const { reads } = world.shell.state
    assert.ok(reads <= 6, `${reads} chunks without delay`)
    for (let second = 0; second < 4; second += 1) await world.clock.advance(1)
    assert.ok(world.shell.state.reads <= reads + 4 * 17)
  })

  test('a client that stops reading blocks its program and is closed after a while', async () => {
    await using world = await openTerminalWorld()
    world.shell.state.isEndless = true
    const client = await world.dial(world.owner.caller)
    client.socket.pause()
    // Advances the clock until all buffers in between are full.
    const isSlow = () => world.shell.state.closed === 1
    await until(async () => {
      await world.clock.advance(1)
      return isSlow()
    }, 'it was closed')
    assert.ok(world.shell.state.reads < 400, `${world.shell.state.reads} chunks read`)
    client.socket.terminate()
  })

  test('a message above the limit closes it', async () => {
    await using world = await openTerminalWorld()
    const client = await world.dial(world.owner.caller)
    client.socket.send(Buffer.alloc(terminalFrameLimit + 1))
    await world.closedAs(client, 1009)
    await world.shell.until(() => world.shell.state.closed === 1)
  })

  test('twenty concurrent terminals work independently', async () => {
    await using world = await openTerminalWorld()
    const clients = await Promise.all(Array.from({ length: 20 }, () => world.dial(world.owner.caller)))
    world.shell.write('to all')
    await Promise.all(clients.map((client) => client.until('to all')))
    assert.equal(world.area.terminals.count(), 20)
    for (const { socket } of clients) socket.close()
    await world.shell.until(() => world.shell.state.closed === 20)
    await until(() => world.area.terminals.count() === 0, 'all to be closed')
  })
})

test('only a text frame with a resize is a size; everything else is input', () => {
  const size = '{"type":"resize","cols":5,"rows":6}'
  assert.deepEqual(readFrame(Buffer.from(size), false), { resize: { cols: 5, rows: 6 } })
  assert.deepEqual(readFrame(Buffer.from(size), true), { typed: Buffer.from(size) })
  assert.deepEqual(readFrame(Buffer.from('{"type":"resize","cols":1001,"rows":6}'), false), { resize: null })
  for (const text of ['ls\n', '{"type":"other"}', '5', 'null', '{', '']) {
    assert.deepEqual(readFrame(Buffer.from(text), false), { typed: Buffer.from(text) })
  }
})

test('the rate limit does not delay a burst, then delays in proportion to the excess', () => {
  const pace = createPace()
  assert.equal(pace(100, 1_000_000), 0)
  assert.equal(pace(bytesPerSecond / 4 - 100, 1_000_000), 0)
  assert.equal(pace(bytesPerSecond, 1_000_000), 1000)
  assert.equal(pace(0, 1_001_000), 0)
})
