import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { maxMessageBytes } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../kit/clock.ts'
import { createAgentLinkHub } from '../../ports/agent-link/hub.ts'
import type { Db } from '../../ports/database/port.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { silentLog } from '../../ports/log.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { dialLink, type LinkAgent } from '../../test/link-agent.ts'
import { accept, agentFact, person, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import { transcriptStore } from '../transcripts/index.ts'

const line = (text: string): TranscriptLine => ({
  type: 'system',
  subtype: 'notice',
  level: 'info',
  message: text,
})

/** One process of the platform, from database to listener. `die` ends it like a kill, without cleanup. */
async function startProcess(db: Db, ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })) {
  const hub = createAgentLinkHub({
    ephemeral,
    ownAddresses: () => [],
    isKeyWorking: async () => true,
    clock: systemClock,
    log: silentLog,
  })
  const platform = await startRunPlatform({ db, link: hub, clock: systemClock, ephemeral })
  hub.serve({
    ...platform.dispatch.handlers,
    queue: async () => ({ updates: [] }),
    template: async () => ({ version: null, size: 0, data_base64: '' }),
    beat: async ({ agentId }, beat) => {
      await platform.dispatch.beat(agentId, beat)
      return { ok: true }
    },
  })
  await hub.open()
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes })
  const server = createServer()
  server.on('upgrade', (request, stream, head) => {
    const agentId = (request.url ?? '').slice(1)
    sockets.handleUpgrade(request, stream, head, (socket) =>
      hub.accept(socket, { agentId, agentName: agentId, keyId: 'k' }, 'owner'),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const die = () => {
    for (const client of sockets.clients) client.terminate()
    server.close()
    void hub.close()
  }
  after(die)
  const { port } = server.address() as AddressInfo
  return { platform, hub, die, dial: (agentId = 'a1') => dialLink(`ws://127.0.0.1:${port}/${agentId}`) }
}

const claimOne = async (agent: LinkAgent) => {
  const { runs } = await agent.call('claim', { free: 1 })
  const run = runs[0] ?? assert.fail('no run was claimed')
  return { run, hold: { execution_id: run.execution_id, claim_token: run.claim_token } }
}

forEachDialect((_, open) => {
  test('a run over a real link: wake, claim, spawn, lines, result', async () => {
    const { platform, dial } = await startProcess(await open())
    await using agent = await dial()
    assert.equal((await agent.hello()).lease_seconds, 60)
    const row = await accept(platform)
    await agent.next('wake')
    const { run, hold } = await claimOne(agent)
    assert.equal(run.execution_id, row.id)
    assert.deepEqual(await agent.call('started', { ...hold, pid: 5 }), { ok: true })
    const received: unknown[] = []
    const reading = (async () => {
      const signal = new AbortController().signal
      for await (const each of platform.executions.watch(row.id, { partials: true, signal })) {
        received.push(each.kind === 'line' ? each.n : each.kind)
      }
    })()
    agent.partial({ ...hold, kind: 'text', text: 'hel' })
    assert.deepEqual(await agent.call('lines', { ...hold, from: 1, lines: [line('hello')] }), { acked: 1 })
    assert.deepEqual(await agent.call('beat', { executions: [{ execution_id: row.id }] }), { ok: true })
    const { t: _t, ...result } = resultOf(run)
    assert.deepEqual(await agent.call('result', result), { accepted: true })
    await reading
    assert.deepEqual(received.filter((each) => each !== 'status').slice(-2), [1, 'end'])
    assert.equal((await platform.row(row.id)).status, 'success')
  })

  test('after a kill during a run the next process continues after the last stored line', async () => {
    const db = await open()
    const first = await startProcess(db)
    const row = await accept(first.platform)
    await using agent = await first.dial()
    await agent.hello()
    const { run, hold } = await claimOne(agent)
    await agent.call('started', { ...hold, pid: 5 })
    const spool = ['1', '2', '3', '4', '5'].map(line)
    await agent.call('lines', { ...hold, from: 1, lines: spool.slice(0, 2) })
    first.die()
    await agent.closed

    await using again = await db.openAgain()
    const second = await startProcess(again)
    await using back = await second.dial()
    const { acked, drop } = await back.hello({ held: [{ ...hold, state: 'finished', last_line: 5 }] })
    assert.deepEqual([acked, drop], [{ [row.id]: 2 }, []])
    await back.call('lines', { ...hold, from: 3, lines: spool.slice(2) })
    const { t: _t, ...result } = resultOf(run, { response: 'survived' })
    assert.deepEqual(await back.call('result', result), { accepted: true })
    const ended = await second.platform.row(row.id)
    assert.deepEqual([ended.status, ended.response], ['success', 'survived'])
    const log = await transcriptStore(again).all(row.id)
    assert.deepEqual(
      log.map((stored) => [stored._n, 'message' in stored && stored.message]),
      [1, 2, 3, 4, 5].map((n) => [n, `${n}`]),
    )
  })

  test('runs of a lost claim answer are queued again at the next hello', async () => {
    const db = await open()
    const { platform, dial } = await startProcess(db)
    const row = await accept(platform)
    const agent = await dial()
    await agent.hello()
    const { run } = await claimOne(agent)
    // The agent never receives it.
    agent.cut()
    await using back = await dial()
    await back.hello()
    const again = await claimOne(back)
    assert.equal(again.run.execution_id, row.id)
    assert.ok(again.run.claim_token > run.claim_token)
  })

  test('a process other than the one with the link can stop a run', async () => {
    const db = await open()
    const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
    const holder = await startProcess(db, ephemeral)
    await using again = await db.openAgain()
    const other = await startProcess(again, ephemeral)
    await using agent = await holder.dial()
    agent.answers.cancel = ({ grace_seconds }) => ({ state: 'stopped', returncode: grace_seconds })
    await agent.hello()
    const row = await accept(other.platform)
    await agent.next('wake')
    const { hold } = await claimOne(agent)
    await agent.call('started', { ...hold, pid: 5 })
    const reader = { caller: person(), agentId: 'a1', relation: 'owner' as const }
    const watched = (async () => {
      for await (const each of other.platform.executions.watch(row.id, {
        signal: new AbortController().signal,
      })) {
        if (each.kind === 'end') return each.row.status
      }
      return null
    })()
    assert.deepEqual(await other.platform.executions.terminate(reader, row.id), {
      status: 'terminated',
      execution_id: row.id,
      returncode: 5,
    })
    assert.equal(await watched, 'cancelled')
    assert.deepEqual(await agent.call('lines', { ...hold, from: 1, lines: [line('late')] }), { stale: true })
  })

  test('a deleted agent is rejected at hello', async () => {
    const { platform, dial } = await startProcess(await open())
    platform.agents.set('a1', agentFact())
    await using agent = await dial('gone')
    await assert.rejects(agent.hello(), (error) => (error as { code: string }).code === 'invalid_message')
  })
})
