/** Nodes are drained, and pods are evicted or deleted, while agents work. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ApiError, type Cluster, startCluster } from '@roost/test-support/cluster/index'
import { openAgentImages } from '../../server/src/ports/agent-images/open.ts'
import { connect } from '../../server/src/ports/containers/docker/connect.ts'
import type { Pod } from '../../server/src/ports/containers/kubernetes/objects.ts'
import { busyLabel, nameNote } from '../../server/src/ports/containers/kubernetes/record.ts'
import { exceededItsDisk } from '../../server/src/ports/containers/kubernetes/state.ts'
import { eventually, type Loose, type Platform, startPlatform } from '../acceptance/platform.ts'
import { answerOf, beginTurn, createAgent, execution, isOver, untilExecution } from '../acceptance/steps.ts'
import { render, skip } from '../helm/helm.ts'

/** Longer than any step of a test takes on a busy machine. */
const evictionWaitSeconds = 60
const stopped = 'The container of the agent was stopped in the middle of this run.'
const podsPath = '/api/v1/namespaces/default/pods'

describe('drains and evictions', { skip }, () => {
  let cluster: Cluster
  let platform: Platform

  before(async () => {
    const images = await openAgentImages('docker:', {
      ...{ connect, agentImage: null, dataDir: '', env: process.env },
    })
    await images.ensure('claude-code', () => {})
    const { image } = images.tagFor('claude-code')
    cluster = await startCluster({ images: [image] })
    const budget = (await render({}, { kubeVersion: '1.20.0' })).find(
      ({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === 'roost-agents',
    )
    await cluster.api.request('POST', '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets', {
      ...budget,
      metadata: { name: 'roost-agents' },
    })
    platform = await startPlatform({
      env: {
        ROOST_CONTAINERS_URL: `kubernetes://${cluster.kubeconfig}?namespace=default`,
        ROOST_AGENT_IMAGE: image,
        ROOST_AGENT_TMP_SIZE: '64m',
        ROOST_EVICTION_WAIT_SECONDS: String(evictionWaitSeconds),
        ROOST_KUBERNETES_PLATFORM_HOST: cluster.hostAddress,
        ROOST_KUBERNETES_STORAGE_CLASS: cluster.storageClasses.shared,
        ROOST_KUBERNETES_ACCESS_MODE: 'ReadWriteMany',
      },
    })
  })
  after(async () => {
    await platform?.[Symbol.asyncDispose]()
    await cluster?.close()
  })

  async function podsOf(agent: string): Promise<Pod[]> {
    const { items } = await cluster.api.request<{ items: Pod[] }>('GET', podsPath)
    return items.filter(
      ({ metadata }) =>
        metadata.annotations?.[nameNote] === `agent-${agent}` && metadata.deletionTimestamp === undefined,
    )
  }
  async function podOf(agent: string): Promise<Pod> {
    const [pod, ...others] = await podsOf(agent)
    assert.deepEqual(others, [])
    return pod ?? assert.fail(`${agent} has no pod`)
  }
  const nodeOf = async (agent: string) => (await podOf(agent)).spec.nodeName ?? assert.fail('no node')
  const drain = (node: string) =>
    cluster.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data')
  const uncordon = (node: string) => cluster.kubectl('uncordon', node)
  /** Resolves with the status of the refusal, or null for an accepted eviction. */
  async function evict(agent: string): Promise<number | null> {
    const { name } = (await podOf(agent)).metadata
    const body = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name, namespace: 'default' } }
    return cluster.api.request('POST', `${podsPath}/${name}/eviction`, body).then(
      () => null,
      (error: unknown) => (error instanceof ApiError ? error.status : assert.fail(String(error))),
    )
  }
  const untilProtected = (agent: string, isProtected = true) =>
    eventually(
      () => podOf(agent),
      ({ metadata }) => (metadata.labels?.[busyLabel] === 'true') === isProtected,
    )
  /** Starts a turn whose model answers when the key is released. */
  async function heldTurn(agent: string, key: string) {
    const turn = await beginTurn(platform, agent, `[[hold:${key}]][[reply:finished]]`)
    turn.ended.catch(() => {})
    await untilAsked(key)
    return turn
  }
  const untilAsked = (key: string) =>
    platform.model.waitForRequest(({ user_text }) => user_text?.includes(`hold:${key}`) ?? false, {
      timeoutMs: 120_000,
    })
  const outcomeOf = async (agent: string, id: string) => {
    const { status, error_code, error } = await untilExecution(platform, agent, id, isOver)
    return [status, error_code, error]
  }
  /** Resolves with the seconds until the agent runs in another pod, once it has answered from there. */
  async function untilReplaced(agent: string, old: Pod): Promise<number> {
    const startedAt = performance.now()
    await eventually(
      () => podsOf(agent),
      (pods) => pods.some(({ metadata }) => metadata.uid !== old.metadata.uid),
    )
    await eventually(
      async () => (await platform.request('GET', `/api/agents/${agent}`)).json,
      ({ status }: Loose) => status === 'running',
    )
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    const message = { message: '[[reply:moved]]' }
    const headers = { accept: 'application/json' }
    const reply = await eventually(
      () => platform.request('POST', `/api/agents/${agent}/chat`, message, { headers }),
      ({ status }) => status === 200,
    )
    assert.equal(reply.json.response, 'moved')
    await podOf(agent)
    return seconds
  }

  test('a drain waits for the end of a turn, then the agent answers from another node', async () => {
    const name = 'qa-waits'
    await createAgent(platform, name)
    const made = '[[tool:Bash:echo made > note.txt]][[reply:done]]'
    assert.equal(await answerOf(platform, name, made), 'done')
    const node = await nodeOf(name)
    await untilProtected(name, false)
    const turn = await heldTurn(name, 'gate-waits')
    await untilProtected(name)
    assert.equal(await evict(name), 429)
    let isDrained = false
    const drained = drain(node).then(() => {
      isDrained = true
    })
    drained.catch(() => {})
    await eventually(
      () => cluster.kubectl('get', 'node', node),
      (text) => text.includes('SchedulingDisabled'),
    )
    assert.equal(await evict(name), 429)
    assert.equal(isDrained, false)
    platform.model.release('gate-waits')
    assert.deepEqual(await outcomeOf(name, turn.id), ['success', null, null])
    assert.match(await turn.ended, /finished/)
    await drained
    assert.equal(await answerOf(platform, name, '[[reply:moved]]'), 'moved')
    assert.notEqual(await nodeOf(name), node)
    const note = await platform.request('GET', `/api/agents/${name}/files/download?path=note.txt`)
    assert.equal(note.text, 'made\n')
    await uncordon(node)
  })

  test('a turn beyond the limit ends with agent_lost; its schedule retries it, a task does not', async (t) => {
    const name = 'qa-outlasts'
    await createAgent(platform, name)
    const path = `/api/agents/${name}`
    const made = await platform.request('POST', `${path}/schedules`, {
      ...{ name: 'again', cron_expression: '0 0 1 1 *', message: '[[hold:gate-schedule]][[reply:finished]]' },
      ...{ max_retries: 1, retry_delay_seconds: 30 },
    })
    assert.equal(made.status, 201, made.text)
    const first = (await platform.request('POST', `${path}/schedules/${made.json.id}/trigger`)).json
    const message = '[[hold:gate-task]][[reply:finished]]'
    const task = (await platform.request('POST', `${path}/task`, { message, async_mode: true })).json
    await untilAsked('gate-schedule')
    await untilAsked('gate-task')
    await untilProtected(name)
    const node = await nodeOf(name)
    const startedAt = performance.now()
    await drain(node)
    t.diagnostic(`the drain took ${Math.round((performance.now() - startedAt) / 1000)} s`)
    assert.deepEqual(await outcomeOf(name, first.execution_id), ['failed', 'agent_lost', stopped])
    assert.deepEqual(await outcomeOf(name, task.execution_id), ['failed', 'agent_lost', stopped])
    platform.model.release('gate-task')
    platform.model.release('gate-schedule')
    const runs = async (): Promise<Loose[]> =>
      (await platform.request('GET', `${path}/schedules/${made.json.id}/executions`)).json
    const [, retry] = await eventually(
      async () => (await runs()).toSorted((a, b) => a.attempt_number - b.attempt_number),
      (rows) => rows.at(-1)?.status === 'success',
    )
    assert.equal(retry.retry_of_execution_id, first.execution_id)
    assert.equal((await execution(platform, name, retry.id)).response, 'finished')
    assert.equal((await runs()).length, 2)
    assert.notEqual(await nodeOf(name), node)
    const all: Loose[] = (await platform.request('GET', `${path}/executions`)).json
    assert.equal(all.length, 3, 'the task ran once')
    assert.equal((await execution(platform, name, task.execution_id)).status, 'failed')
    await uncordon(node)
  })

  test('an evicted or deleted pod is replaced immediately', async (t) => {
    const name = 'qa-evicted'
    await createAgent(platform, name)
    const ways: Record<string, (pod: Pod) => Promise<unknown>> = {
      evicted: async () => assert.equal(await evict(name), null),
      deleted: ({ metadata }) => cluster.api.request('DELETE', `${podsPath}/${metadata.name}`),
      'deleted by force': ({ metadata }) =>
        cluster.kubectl('delete', 'pod', metadata.name, '--force', '--grace-period=0'),
    }
    for (const [title, end] of Object.entries(ways)) {
      const pod = await podOf(name)
      await end(pod)
      t.diagnostic(`${title}: runs again after ${await untilReplaced(name, pod)} s`)
    }
  })

  test('a pod that its node evicts in the middle of a turn is replaced, and the turn ends with agent_lost', async (t) => {
    const name = 'qa-pressure'
    await createAgent(platform, name)
    const pod = await podOf(name)
    // Kubelets evict pods that exceed the limit of a volume, whatever a budget says. Such an end counts as a crash: the
    // agent is replaced after the usual grace of 10 seconds, and stays down only after several ends.
    const fill = '[[tool:Bash:head -c 100000000 /dev/zero > /tmp/fill]][[hold:gate-pressure]][[reply:never]]'
    const turn = await beginTurn(platform, name, fill)
    turn.ended.catch(() => {})
    const evicted = await cluster.api.until<Pod & { metadata: Loose }, Pod>(podsPath, (pods) => {
      const found = pods.find(({ metadata }) => metadata.uid === pod.metadata.uid)
      return found?.status?.phase === 'Failed' ? found : undefined
    })
    assert.equal(evicted.status?.reason, 'Evicted')
    assert.ok(exceededItsDisk(evicted), evicted.status?.message)
    t.diagnostic(`runs again after ${await untilReplaced(name, pod)} s`)
    const [outcome, code] = await outcomeOf(name, turn.id)
    assert.deepEqual([outcome, code], ['failed', 'agent_lost'])
    const details = (await platform.request('GET', `/api/agents/${name}`)).json
    assert.equal(details.status, 'running')
  })
})
