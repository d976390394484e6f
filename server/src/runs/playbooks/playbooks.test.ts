import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuntimeName } from '@roost/contracts/link/messages'
import { type Agent, blankRow } from '../../agents/records/index.ts'
import { createAgentRpc } from '../../agents/rpc/index.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, startTaskApp } from '../../test/task-app.ts'
import { playbookRoutes } from './routes.ts'
import { messageOf } from './rules.ts'
import { createPlaybooks } from './service.ts'

const report = `---
title: Weekly report
description: Says what was done.
argument-hint: "[week]"
allowed-tools: Read, Bash
automation: gated
---
# Report
`
/** Skill files of the workspace, by skill name. */
const files: Record<string, string> = {
  report,
  plain: '# Plain\n\nDoes something plain.\n',
  inner: '---\nuser-invocable: false\n---\nFor other skills.\n',
}

forEachDialect((_, open) => {
  async function start({ runtime = 'claude-code' as RuntimeName, status = 'running' } = {}) {
    const offered = new Set(['plain', 'inner'])
    const row = { ...blankRow('scout', '2026-01-01T00:00:00.000Z'), id: 'a1', state: 'ready' }
    // The code under test reads only the runtime and the status.
    const agent = { ...row, runtime, status, shares: [], tags: [] } as unknown as Agent
    const app = await startTaskApp(await open(), {
      routes: ({ tasks, link, clock }) =>
        playbookRoutes({
          tasks,
          agentRecords: { byId: async () => agent },
          playbooks: createPlaybooks({
            ask: createAgentRpc({ link, clock }),
            connectors: { offer: async () => (name) => offered.has(name) },
          }),
        }),
    })
    app.link.link('a1', {
      'skills.list': () => ({
        skills: ['report', 'plain', 'inner', 'empty', '.hidden'].map((name) => ({
          name,
          managed: false,
          version: null,
        })),
      }),
      'fs.read': ({ path }) => {
        const text = files[/skills\/([^/]+)\/SKILL\.md$/.exec(path)?.[1] ?? '']
        if (text === undefined) throw new LinkFault({ code: 'file_not_found', message: path })
        return { data_base64: Buffer.from(text).toString('base64'), size: text.length, eof: true }
      },
    })
    const list = (who: string) => app.call(who, 'GET', '/playbooks')
    const run = (who: string, name: string, body: object = {}, headers = {}) =>
      app.call(who, 'POST', `/playbooks/${name}/run`, body, headers)
    return { ...app, list, run, offered }
  }
  const names = ({ json }: { json: Loose }) => json.playbooks.map(({ name }: Loose) => name)

  test('startable skills are listed by name with their front matter', async () => {
    const { list } = await start()
    const { status, json } = await list('ann')
    assert.equal(status, 200)
    assert.deepEqual(json.playbooks, [
      {
        name: 'plain',
        title: null,
        description: 'Does something plain.',
        argument_hint: null,
        automation: null,
        allowed_tools: [],
        exposed: true,
      },
      {
        name: 'report',
        title: 'Weekly report',
        description: 'Says what was done.',
        argument_hint: '[week]',
        automation: 'gated',
        allowed_tools: ['Read', 'Bash'],
        exposed: false,
      },
    ])
    assert.equal(json.count, 2)
  })

  test('404 for a connector on playbooks that are not exposed; its list omits them', async () => {
    const { list, run, offered, woken, claim, finish } = await start()
    assert.deepEqual(names(await list('connector')), ['plain'])
    for (const name of ['report', 'inner', 'nothing', '..%2F..%2Fx']) {
      const { status, json } = await run('connector', name)
      assert.deepEqual([status, json.error], [404, 'skill_not_found'], name)
    }
    const wake = woken()
    const running = run('connector', 'plain')
    await wake
    await finish(await claim())
    assert.deepEqual([(await running).status, (await running).json.response], [200, 'done'])
    offered.clear()
    assert.deepEqual(names(await list('connector')), [])
    assert.equal((await run('connector', 'plain')).status, 404)
  })

  test('a playbook run is a task: the message names the playbook, the reply is a task reply', async () => {
    const { run, woken, claim, finish, call } = await start()
    const wake = woken()
    const running = run('ann', 'report', { input: ' week 3 ', timeout_seconds: 60 })
    await wake
    const claimed = await claim()
    assert.deepEqual([claimed.message, claimed.kind, claimed.timeout_seconds], ['/report week 3', 'task', 60])
    await finish(claimed)
    const { status, json, headers } = await running
    assert.deepEqual([status, json.status, json.response], [200, 'success', 'done'])
    assert.equal(headers['x-execution-id'], claimed.execution_id)
    const accepted = await run('ann', 'report', { async_mode: true })
    assert.deepEqual([accepted.json.status, accepted.json.agent_name], ['accepted', 'scout'])
    const [newest] = (await call('ann', 'GET', '/executions')).json
    assert.deepEqual([newest.message, newest.triggered_by], ['/report', 'manual'])
  })

  test('a repeated idempotency key returns the same reply and starts nothing', async () => {
    const { run, call } = await start()
    const key = { 'idempotency-key': 'k1' }
    const first = await run('ann', 'report', { async_mode: true }, key)
    const again = await run('ann', 'report', { async_mode: true }, key)
    assert.deepEqual(again.json, first.json)
    assert.equal(again.headers['x-idempotent-replay'], 'true')
    assert.equal((await call('ann', 'GET', '/executions')).json.length, 1)
  })

  test('409 to list and 503 to start on a stopped agent; 404 for unknown; 422 for invalid input', async () => {
    const stopped = await start({ status: 'stopped' })
    const listed = await stopped.list('ann')
    assert.deepEqual([listed.status, listed.json.error], [409, 'agent_stopped'])
    const started = await stopped.run('ann', 'report')
    assert.deepEqual([started.status, started.json.error], [503, 'agent_not_running'])
    const { run } = await start()
    assert.equal((await run('ann', 'nothing')).json.error, 'skill_not_found')
    assert.equal((await run('ann', 'inner')).json.error, 'skill_not_found')
    assert.equal((await run('ann', 'report', { input: 5 })).status, 422)
    assert.equal((await run('ann', 'report', { timeout_seconds: 1 })).status, 422)
  })
})

test('Claude Code gets a playbook as a command; other runtimes get the path of its file', () => {
  assert.equal(messageOf('claude-code', 'report', ''), '/report')
  assert.equal(messageOf('claude-code', 'report', 'week 3'), '/report week 3')
  for (const runtime of ['gemini-cli', 'codex'] as const) {
    assert.match(
      messageOf(runtime, 'report', 'week 3'),
      /\.claude\/skills\/report\/SKILL\.md\.\n\nInput:\nweek 3$/,
    )
  }
})
