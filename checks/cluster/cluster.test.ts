/** The cluster of the tests itself: what it offers, its faults, and what it leaves behind. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { ApiError, type Cluster, type KubeObject, startCluster } from '@roost/test-support/cluster/index'
import { removeCrashed } from '@roost/test-support/cluster/record'
import {
  createClaim,
  createPod,
  createToolImage,
  get,
  isRunning,
  namespace,
  outputOf,
  type Pod,
  podSpec,
  podsPath,
  untilPod,
} from './objects.ts'
import { tracesOf } from './traces.ts'

const run = promisify(execFile)

describe('a cluster of three nodes', () => {
  let cluster: Cluster
  let image = ''

  before(async () => {
    image = await createToolImage()
    cluster = await startCluster({ images: [image], nodeMonitorGraceSeconds: 8 })
  })
  after(async () => {
    await cluster?.close()
    if (image) await run('docker', ['image', 'rm', image])
  })

  test('its three nodes are ready, and each runs pods that reach a Service by its name', async () => {
    const { api } = cluster
    assert.deepEqual(
      cluster.nodes.map(({ name }) => name),
      ['node-1', 'node-2', 'node-3'],
    )
    await createWebServers()
    for (const node of cluster.nodes) {
      const script = [
        get,
        // A node learns of the pods of a Service one after another.
        'names=; seen() { printf %s "$names" | sort -u; }',
        'until [ "$(seen | grep -c .)" -ge 2 ]; do names="$names$(get web 80 /name | tail -n 1)\n"; done; seen',
        'get web.default.svc.cluster.local 80 /name > /dev/null && echo full name',
        'nslookup -type=a each.default.svc.cluster.local | grep -c "^Address: 10\\."',
      ]
      const output = await outputOf(api, `client-${node.name}`, {
        image,
        node: node.name,
        script: script.join('\n'),
      })
      const lines = output.trim().split('\n')
      assert.equal(lines.at(-1), '3', output)
      assert.equal(lines.at(-2), 'full name')
      assert.ok(lines.length >= 4, output)
    }
  })

  test('a pod reaches this machine, and the API by its Service', async () => {
    const server = createServer((_, response) => response.end('from the machine')).listen(
      0,
      cluster.hostAddress,
    )
    await once(server, 'listening')
    try {
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      const script = [
        get,
        `get ${cluster.hostAddress} ${port} / | tail -n 1; echo`,
        // The API answers in plain text to a request without TLS.
        'get kubernetes.default 443 /version',
      ]
      const output = await outputOf(cluster.api, 'caller', { image, script: script.join('\n') })
      assert.match(output, /^from the machine\n/)
      assert.match(output, /Client sent an HTTP request to an HTTPS server/)
    } finally {
      server.close()
    }
  })

  test('a local claim keeps its data on one node for a user without root', async () => {
    const { api } = cluster
    await createClaim(api, 'local', { storageClass: cluster.storageClasses.local, mode: 'ReadWriteOnce' })
    const writer = { image, claim: 'local', user: 1000, onlyOn: 'node-2', script: 'echo kept > /data/file' }
    await outputOf(api, 'writer', writer)
    const reader = { image, claim: 'local', user: 1000, script: 'cat /data/file' }
    assert.equal(await outputOf(api, 'reader', reader), 'kept\n')
    const { spec } = await api.request<KubeObject & { spec: { nodeName: string } }>(
      'GET',
      `${podsPath}/reader`,
    )
    assert.equal(spec.nodeName, 'node-2', 'the pod follows its volume')
  })

  test('a shared claim has the same files on two nodes, and its folder goes with it', async () => {
    const { api } = cluster
    await createClaim(api, 'shared', { storageClass: cluster.storageClasses.shared, mode: 'ReadWriteMany' })
    const common = { image, claim: 'shared', user: 1000 }
    await outputOf(api, 'shared-writer', { ...common, onlyOn: 'node-1', script: 'echo seen > /data/file' })
    const read = { ...common, onlyOn: 'node-3', script: 'cat /data/file' }
    assert.equal(await outputOf(api, 'shared-reader', read), 'seen\n')
    type Volume = KubeObject & { spec: { hostPath?: { path: string }; claimRef: { name: string } } }
    const volumes = await api.request<{ items: Volume[] }>('GET', '/api/v1/persistentvolumes')
    const folder =
      volumes.items.find(({ spec }) => spec.claimRef.name === 'shared')?.spec.hostPath?.path ?? ''
    assert.ok(existsSync(folder))
    for (const pod of ['shared-writer', 'shared-reader']) await api.request('DELETE', `${podsPath}/${pod}`)
    await api.request('DELETE', `${namespace}/persistentvolumeclaims/shared`)
    await api.until<Volume, true>('/api/v1/persistentvolumes', (all) =>
      all.every(({ spec }) => spec.claimRef.name !== 'shared') ? true : undefined,
    )
    assert.equal(existsSync(folder), false)
  })

  test('a claim of an unknown class stays unbound', async () => {
    const { api } = cluster
    await createClaim(api, 'unbound', { storageClass: 'nothing', mode: 'ReadWriteOnce' })
    await createPod(api, 'waiting', { image, claim: 'unbound', script: 'true' })
    type Waiting = Pod & { status: { conditions?: { type: string; message?: string }[] } }
    const message = await api.until<Waiting, string>(
      `${podsPath}?fieldSelector=metadata.name%3Dwaiting`,
      ([pod]) => pod?.status.conditions?.find(({ type }) => type === 'PodScheduled')?.message,
    )
    assert.match(message, /unbound immediate PersistentVolumeClaims/)
  })

  test('a node that is not schedulable gets no pods', async () => {
    const { api } = cluster
    const node = cluster.node(1)
    await node.setSchedulable(false)
    await createPod(api, 'refused', { image, onlyOn: node.name, script: 'true' })
    type Refused = Pod & { status: { conditions?: { type: string; message?: string }[] } }
    const message = await api.until<Refused, string>(
      `${podsPath}?fieldSelector=metadata.name%3Drefused`,
      ([pod]) => pod?.status.conditions?.find(({ type }) => type === 'PodScheduled')?.message,
    )
    assert.match(message, /node\(s\) were unschedulable/)
    await node.setSchedulable(true)
    await untilPod(api, 'refused', ({ status }) => status.phase === 'Succeeded')
  })

  test('a power cut of a node ends its pods, and with its power they are back', async () => {
    const node = cluster.node(3)
    await createPod(cluster.api, 'survivor', {
      image,
      node: node.name,
      restarts: true,
      script: 'sleep 100000',
    })
    await untilPod(cluster.api, 'survivor', isRunning)
    const group = `${cluster.name}-n3`
    assert.ok((await tracesOf(group)).some((trace) => trace.startsWith('process')))
    await node.kill()
    assert.deepEqual(await tracesOf(group), [])
    await node.untilReady(false)
    await node.start()
    await node.untilReady()
    const { status } = await untilPod(cluster.api, 'survivor', (pod) => {
      return isRunning(pod) && (pod.status.containerStatuses?.[0]?.restartCount ?? 0) > 0
    })
    assert.equal(status.containerStatuses?.[0]?.restartCount, 1)
  })

  test('a node without its network is lost, and its pods are the same when the network is back', async () => {
    const node = cluster.node(2)
    await createPod(cluster.api, 'islander', { image, node: node.name, script: 'sleep 100000' })
    const before = await untilPod(cluster.api, 'islander', isRunning)
    await node.disconnect()
    await node.untilReady(false)
    await node.reconnect()
    await node.untilReady()
    const { status } = await untilPod(cluster.api, 'islander', isRunning)
    assert.deepEqual(containers(status), containers(before.status))
  })

  test('pods run on without the API server, and answers are the same when it is back', async () => {
    const { api } = cluster
    const before = await untilPod(api, 'islander', isRunning)
    await cluster.stopApiServer()
    await assert.rejects(api.request('GET', podsPath), /ECONNREFUSED|ECONNRESET|socket hang up/)
    await cluster.startApiServer()
    const { metadata, status } = await untilPod(api, 'islander', isRunning)
    assert.equal(metadata.uid, before.metadata.uid)
    assert.deepEqual(containers(status), containers(before.status))
  })

  test('410 for a watch whose version has expired', async () => {
    const { api } = cluster
    const { metadata } = await api.request<KubeObject>('GET', podsPath)
    await cluster.expireWatches()
    const path = `${podsPath}?watch=1&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=5`
    const refusal = await api.text(path).catch((error: unknown) => error)
    const text = refusal instanceof ApiError ? refusal.message : String(refusal)
    assert.match(text, /410|"code":410/)
  })

  test('an image that was loaded later is on every node', async () => {
    const late = 'roost-cluster-check:late'
    await run('docker', ['tag', image, late])
    try {
      await cluster.loadImage(late)
      for (const node of cluster.nodes) {
        const output = await outputOf(cluster.api, `late-${node.name}`, {
          image: late,
          node: node.name,
          script: 'echo ran',
        })
        assert.equal(output, 'ran\n')
      }
    } finally {
      await run('docker', ['image', 'rm', late])
    }
  })

  test('a second cluster runs beside it, and a crash of its process leaves nothing after the next start', async () => {
    const child = fork(join(import.meta.dirname, 'second-cluster.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const name = await nameFrom(child)
    assert.notEqual(name, cluster.name)
    assert.ok((await tracesOf(name)).length > 0)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await removeCrashed()
    assert.deepEqual(await tracesOf(name), [])
    await untilPod(cluster.api, 'islander', isRunning)
  })

  test('closing leaves no process, mount, control group, link, address, route or rule', async () => {
    assert.ok((await tracesOf(cluster.name)).length > 0)
    const folder = cluster.kubeconfig
    await cluster.close()
    assert.deepEqual(await tracesOf(cluster.name), [])
    assert.equal(existsSync(folder), false)
  })

  /** One web server per node that answers with its node's name, a Service for all, and a headless Service. */
  async function createWebServers(): Promise<void> {
    const { api } = cluster
    const labels = { app: 'web' }
    const script = 'mkdir /www; hostname > /www/name; httpd -f -p 8080 -h /www'
    await api.request('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec({ image, script, restarts: true }) },
      },
    })
    const ports = [{ port: 80, targetPort: 8080 }]
    for (const metadata of [{ name: 'web' }, { name: 'each' }]) {
      const clusterIP = metadata.name === 'each' ? 'None' : undefined
      await api.request('POST', `${namespace}/services`, {
        metadata,
        spec: { selector: labels, ports, clusterIP },
      })
    }
    await api.until<Pod, true>(`${podsPath}?labelSelector=app%3Dweb`, (pods) =>
      pods.length === 3 && pods.every(isRunning) ? true : undefined,
    )
  }
})

function containers({ containerStatuses = [] }: Pod['status']): (string | undefined)[] {
  return containerStatuses.map(({ containerID }) => containerID)
}

/** Resolves with the name of the cluster that the process started. */
async function nameFrom(child: ChildProcess): Promise<string> {
  const failed = once(child, 'exit').then(() => {
    throw new Error('The process with the second cluster ended early.')
  })
  const [message] = await Promise.race([once(child, 'message'), failed])
  return String(message)
}
