/** An agent whose node is lost, with volumes that no other node can mount. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cluster, startCluster } from '@roost/test-support/cluster/index'
import type { Pod } from '../../server/src/ports/containers/kubernetes/objects.ts'
import { eventually, type Loose, type Platform, startPlatform } from '../acceptance/platform.ts'
import { answerOf, createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import { agentImages, platformOn } from './platform-on.ts'

describe('an agent with local volumes loses its node', () => {
  let cluster: Cluster
  let platform: Platform

  before(async () => {
    const images = await agentImages(['claude-code'])
    cluster = await startCluster({ images: [images['claude-code']], nodeMonitorGraceSeconds: 8 })
    platform = await startPlatform({
      env: {
        ...platformOn(cluster, images),
        ROOST_KUBERNETES_STORAGE_CLASS: cluster.storageClasses.local,
        ROOST_KUBERNETES_ACCESS_MODE: 'ReadWriteOnce',
        ROOST_LOST_NODE_SECONDS: '30',
      },
    })
    for (const name of ['allowed', 'waits']) await createAgent(platform, name)
  })
  after(async () => {
    await platform?.[Symbol.asyncDispose]()
    await cluster?.close()
  })

  const request = async (method: string, path: string, body?: object): Promise<Loose> =>
    (await platform.request(method, `/api/agents/allowed${path}`, body)).json
  const fileOf = async (path: string) =>
    (await platform.request('GET', `/api/agents/allowed/files/download?path=${path}`)).text
  const nodeOf = async (name: string) => {
    const { items } = await cluster.api.request<{ items: Pod[] }>('GET', '/api/v1/namespaces/default/pods')
    // The pod of the lost container exists until its node returns.
    const pod = items
      .filter(({ metadata }) => metadata.name.startsWith(`agent-${name}-`))
      .toSorted((a, b) =>
        (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''),
      )
      .at(-1)
    return (
      cluster.nodes.find((node) => node.name === pod?.spec.nodeName) ?? assert.fail(JSON.stringify(items))
    )
  }
  const untilStatus = (name: string, status: string) =>
    eventually(
      async () => (await platform.request('GET', `/api/agents/${name}`)).json,
      (agent) => agent.status === status,
    )
  async function taskOf(message: string): Promise<Loose> {
    const { execution_id } = await request('POST', '/task', { message, async_mode: true })
    return untilExecution(platform, 'allowed', execution_id, isOver)
  }

  test('it continues elsewhere from its latest record, and can return to its former workspace', async (t) => {
    const settings = await request('PUT', '/history/settings', { start_from_record: true })
    assert.deepEqual([settings.start_from_record, settings.can_lose_node], [true, true])
    const run = await taskOf('[[tool:Bash:echo recorded > note.txt]][[reply:done]]')
    assert.equal(run.status, 'success')
    await eventually(
      async () => (await platform.request('GET', `/api/executions/${run.id}/changes`)).json,
      ({ status }) => status === 'recorded',
    )
    const later = { content: 'written after the record' }
    const written = await platform.request('PUT', '/api/agents/allowed/files?path=note.txt', later)
    assert.equal(written.status, 200, JSON.stringify(written.json))

    const node = await nodeOf('allowed')
    const startedAt = performance.now()
    await node.kill()
    const answer = await eventually(
      () => platform.request('POST', '/api/agents/allowed/task', { message: '[[reply:moved]]' }),
      ({ status }) => status === 200,
      5 * 60_000,
    )
    assert.equal(answer.json.response, 'moved')
    t.diagnostic(`answered ${Math.round((performance.now() - startedAt) / 1000)} s after the power cut`)
    assert.notEqual(await nodeOf('allowed'), node)
    assert.equal(await fileOf('note.txt'), 'recorded\n')
    const [left] = (await request('GET', '/former-workspaces')).workspaces
    assert.equal(left.available, false)

    await node.start()
    await eventually(
      async () => (await request('GET', '/former-workspaces')).workspaces[0],
      ({ available }) => available,
      3 * 60_000,
    )
    await request('POST', '/stop')
    const used = await request('POST', `/former-workspaces/${left.id}/use`)
    assert.equal(used.workspaces.length, 1, JSON.stringify(used))
    await request('POST', '/start')
    await untilStatus('allowed', 'running')
    assert.equal(await answerOf(platform, 'allowed', '[[reply:back]]'), 'back')
    assert.equal(await nodeOf('allowed'), node)
    assert.equal(await fileOf('note.txt'), 'written after the record')
    const { workspaces } = await request('DELETE', `/former-workspaces/${used.workspaces[0].id}`)
    assert.deepEqual(workspaces, [])
  })

  test('without leave it waits for its node', async () => {
    const node = await nodeOf('waits')
    await node.kill()
    const waiting = await eventually(
      async () => (await platform.request('GET', '/api/agents/waits')).json,
      ({ waiting }) => waiting?.state === 'lost',
    )
    assert.match(waiting.waiting.reason, /node/i)
    await node.start()
    await untilStatus('waits', 'running')
    assert.equal(await answerOf(platform, 'waits', '[[reply:still here]]'), 'still here')
    assert.deepEqual(
      (await platform.request('GET', '/api/agents/waits/former-workspaces')).json.workspaces,
      [],
    )
  })
})
