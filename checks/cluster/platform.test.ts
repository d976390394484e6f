/** The platform with its agents on a real cluster, as people use it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cluster, startCluster } from '@roost/test-support/cluster/index'
import type { Pod } from '../../server/src/ports/containers/kubernetes/objects.ts'
import { eventually, type Loose, type Platform, startPlatform } from '../acceptance/platform.ts'
import { answerOf, beginTurn, createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import { agentImages, platformOn } from './platform-on.ts'

const names = ['qa-one', 'qa-two', 'qa-three']

describe('agents on a cluster', () => {
  let cluster: Cluster
  let platform: Platform

  before(async () => {
    const images = await agentImages(['claude-code'])
    cluster = await startCluster({ images: [images['claude-code']] })
    platform = await startPlatform({ env: platformOn(cluster, images) })
    for (const name of names) await createAgent(platform, name)
  })
  after(async () => {
    await platform?.[Symbol.asyncDispose]()
    await cluster?.close()
  })

  const details = async (name: string): Promise<Loose> =>
    (await platform.request('GET', `/api/agents/${name}`)).json
  const files = (method: string, name: string, path: string, body?: object) =>
    platform.request(method, `/api/agents/${name}/files${path}`, body)
  async function podsOf(name: string): Promise<Pod[]> {
    const { items } = await cluster.api.request<{ items: Pod[] }>('GET', '/api/v1/namespaces/default/pods')
    return items.filter((pod) => pod.metadata.name.startsWith(`agent-${name}-`))
  }
  async function nodeOf(name: string) {
    const pod = (await podsOf(name)).find(({ metadata }) => metadata.deletionTimestamp === undefined)
    return cluster.nodes.find((node) => node.name === pod?.spec.nodeName) ?? assert.fail(JSON.stringify(pod))
  }

  test('agents on three nodes answer, with tools', async () => {
    const answers = await Promise.all(
      names.map((name) => answerOf(platform, name, '[[tool:Bash:echo made > note.txt]][[reply:done]]')),
    )
    assert.deepEqual(answers, ['done', 'done', 'done'])
    for (const name of names) {
      assert.equal((await podsOf(name)).length, 1)
      assert.equal((await files('GET', name, '/download?path=note.txt')).text, 'made\n')
    }
    assert.equal(new Set(await Promise.all(names.map(nodeOf))).size, 3)
  })

  test('a task runs, and its transcript is kept', async () => {
    const reply = await platform.request('POST', '/api/agents/qa-one/task', {
      message: '[[reply:task done]]',
      async_mode: true,
    })
    const row = await untilExecution(platform, 'qa-one', reply.json.execution_id, isOver)
    assert.deepEqual([row.status, row.response], ['success', 'task done'])
  })

  test('a stop ends the pod, a start brings the files back', async () => {
    await platform.request('POST', '/api/agents/qa-two/stop')
    assert.equal((await details('qa-two')).status, 'stopped')
    await eventually(
      () => podsOf('qa-two'),
      (pods) => pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined),
    )
    assert.equal((await platform.request('POST', '/api/agents/qa-two/start')).status, 200)
    assert.equal(await answerOf(platform, 'qa-two', '[[reply:back]]'), 'back')
    assert.equal((await files('GET', 'qa-two', '/download?path=note.txt')).text, 'made\n')
  })

  test('an agent reports its own use, which the cluster does not measure', async () => {
    const stats = await eventually(
      async () => (await platform.request('GET', '/api/agents/qa-one/stats')).json,
      ({ source }) => source === 'agent',
    )
    assert.ok(stats.memory_used_mb === undefined || stats.memory_used_mb > 0, JSON.stringify(stats))
  })

  test('without the API server running agents answer, and a start names the engine', async () => {
    await platform.request('POST', '/api/agents/qa-three/stop')
    await cluster.stopApiServer()
    try {
      assert.equal(await answerOf(platform, 'qa-one', '[[reply:still here]]'), 'still here')
      const started = await platform.request('POST', '/api/agents/qa-three/start')
      assert.deepEqual([started.status, started.json.error], [500, 'container_engine_error'])
    } finally {
      await cluster.startApiServer()
    }
    const started = await eventually(
      () => platform.request('POST', '/api/agents/qa-three/start'),
      ({ status }) => status === 200,
    )
    assert.match(started.json.message, /started/)
    assert.equal(await answerOf(platform, 'qa-three', '[[reply:again]]'), 'again')
  })

  test('a node loses power in the middle of a turn: its agent answers from another node, with its files', async (t) => {
    const node = await nodeOf('qa-one')
    const turn = await beginTurn(platform, 'qa-one', '[[hold:gate-power]][[reply:never]]')
    await platform.model.waitForRequest(({ user_text }) => user_text?.includes('gate-power') ?? false)
    const startedAt = performance.now()
    await node.kill()
    await eventually(
      () => details('qa-one'),
      ({ waiting }) => waiting?.state === 'lost',
    )
    const answer = await eventually(
      () => platform.request('POST', '/api/agents/qa-one/chat', { message: '[[reply:moved]]' }, json),
      ({ status }) => status === 200,
    )
    t.diagnostic(`answered ${Math.round((performance.now() - startedAt) / 1000)} s after the power cut`)
    assert.equal(answer.json.response, 'moved')
    assert.notEqual(await nodeOf('qa-one'), node)
    const { status, error_code } = await untilExecution(platform, 'qa-one', turn.id, isOver)
    assert.deepEqual([status, error_code], ['failed', 'agent_lost'])
    await turn.ended.catch(() => {})
    assert.equal((await files('GET', 'qa-one', '/download?path=note.txt')).text, 'made\n')
    await node.start()
    assert.equal(await answerOf(platform, 'qa-one', '[[reply:stays]]'), 'stays')
    await eventually(
      () => podsOf('qa-one'),
      (pods) => pods.length === 1,
    )
  })

  test('a deleted agent leaves no pod, Secret or claim', async () => {
    await platform.request('DELETE', '/api/agents/qa-two')
    const left = async () => {
      const kinds = ['pods', 'secrets', 'persistentvolumeclaims']
      const lists = await Promise.all(
        kinds.map((kind) =>
          cluster.api.request<{ items: Pod[] }>('GET', `/api/v1/namespaces/default/${kind}`),
        ),
      )
      return lists.flatMap(({ items }) => items).filter(({ metadata }) => metadata.name.includes('qa-two'))
    }
    await eventually(left, (objects) => objects.length === 0)
  })
})

const json = { headers: { accept: 'application/json' } }
