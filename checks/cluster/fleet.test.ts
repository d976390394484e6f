/** Sixty agents on three nodes under load, one of which loses power. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cluster, startCluster } from '@roost/test-support/cluster/index'
import { gather, untilQuiet } from '../../bench/chaos/aftermath.ts'
import { violationsOf } from '../../bench/chaos/judge.ts'
import { startLoad } from '../../bench/chaos/load.ts'
import { createChance } from '../../bench/chaos/random.ts'
import { createAsks } from '../../bench/chaos/requests.ts'
import type { World } from '../../bench/chaos/world.ts'
import type { Pod } from '../../server/src/ports/containers/kubernetes/objects.ts'
import { eventually, type Platform, startPlatform } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { agentImages, kubectlOf, platformOn } from './platform-on.ts'

const size = 60
const inFlight = 6
const creations = 4
const seed = 19
/** Agents whose slots are all filled at the end. */
const filledAgents = 2
const answerLimitMs = 10 * 60_000

describe('sixty agents on three nodes', () => {
  let cluster: Cluster
  let platform: Platform
  const agents = Array.from({ length: size }, (_, index) => ({
    ...{ name: `fleet-${index + 1}`, runtime: 'claude-code', sessions: [] },
  }))

  before(async () => {
    const images = await agentImages(['claude-code'])
    cluster = await startCluster({ images: [images['claude-code']] })
    Object.assign(process.env, await kubectlOf(cluster))
    platform = await startPlatform({
      env: {
        ...platformOn(cluster, images),
        ROOST_LOG_LEVEL: 'info',
        // Two nodes of two processors hold them all.
        ROOST_KUBERNETES_CPU_REQUEST: '25m',
        ROOST_KUBERNETES_MEMORY_REQUEST: '64Mi',
      },
    })
    const left = [...agents]
    const create = async () => {
      for (let next = left.shift(); next; next = left.shift()) await createAgent(platform, next.name)
    }
    await Promise.all(Array.from({ length: creations }, create))
  })
  after(async () => {
    await platform?.[Symbol.asyncDispose]()
    await cluster?.close()
  })

  async function nodes(): Promise<Map<string, string | undefined>> {
    const { items } = await cluster.api.request<{ items: Pod[] }>('GET', '/api/v1/namespaces/default/pods')
    const current = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    return new Map(
      current.map(({ metadata, spec }) => [metadata.annotations?.['roost.name'] ?? '', spec.nodeName]),
    )
  }

  test('a node loses power: its agents answer from the others; nothing is lost, doubled or stuck', async (t) => {
    const placed = await nodes()
    const counts = cluster.nodes.map(
      ({ name }) => [...placed.values()].filter((node) => node === name).length,
    )
    t.diagnostic(`agents per node: ${counts.join(', ')}`)
    assert.equal(placed.size, size)
    assert.ok(counts.every((count) => count >= 10))
    const [node] = cluster.nodes
    assert.ok(node)
    const lost = agents.filter(({ name }) => placed.get(`agent-${name}`) === node.name)

    const chance = createChance(seed)
    const startedAt = performance.now()
    const load = startLoad(platform, {
      ...{ inFlight, chance: chance.fork(), nextAsk: createAsks(chance.fork(), agents) },
    })
    await eventually(
      async () => load.requests.filter(({ acknowledged }) => acknowledged).length,
      (count) => count >= 3 * inFlight,
      answerLimitMs,
    )
    t.diagnostic(`under load after ${elapsed(startedAt)} s`)
    const cutAt = performance.now()
    await node.kill()
    const seconds = await Promise.all(lost.map(({ name }) => untilAnswer(name).then(() => elapsed(cutAt))))
    seconds.sort((a, b) => a - b)
    const at = (share: number) => seconds[Math.ceil(share * seconds.length) - 1]
    t.diagnostic(`answers after the power cut: p50 ${at(0.5)} s, p95 ${at(0.95)} s, last ${seconds.at(-1)} s`)
    const moved = await nodes()
    for (const { name } of lost) assert.notEqual(moved.get(`agent-${name}`), node.name, name)

    const since = performance.now()
    await node.start()
    await node.untilReady()
    t.diagnostic(`the node is back after ${elapsed(since)} s`)
    await load.stop()
    const world: World = {
      platform,
      agents,
      ...{ postgres: null, redis: null, engine: null },
      ...nothingToClose,
    }
    t.diagnostic(`quiet after ${Math.round((await untilQuiet(world)) / 1000)} s`)
    const gatheredSince = performance.now()
    const evidence = await gather(world, load, [], lost.slice(0, filledAgents))
    t.diagnostic(
      `evidence after ${elapsed(gatheredSince)} s: ${evidence.records.length} runs of ${load.requests.length} requests`,
    )
    assert.deepEqual(violationsOf(evidence), [])
    const failed = evidence.records.filter(({ status }) => status === 'failed')
    const codes = new Set(failed.map(({ error_code }) => error_code))
    assert.deepEqual([...codes], failed.length > 0 ? ['agent_lost'] : [])
  })

  async function untilAnswer(agent: string): Promise<void> {
    await eventually(
      () =>
        platform.request(
          'POST',
          // A chat would keep its CLI for the next message, which the judge reports as left running.
          `/api/agents/${agent}/task`,
          { message: '[[reply:back]]' },
        ),
      ({ status, json }) => status === 200 && json.response === 'back',
      answerLimitMs,
      // Twenty callers that ask all the time would take a processor from the starts.
      1000,
    )
  }
})

const elapsed = (since: number) => Math.round((performance.now() - since) / 1000)
const nothingToClose = { async [Symbol.asyncDispose]() {} }
