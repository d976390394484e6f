import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { createApi } from '../../server/src/ports/containers/kubernetes/api.ts'
import { type Connection, findConnection } from '../../server/src/ports/containers/kubernetes/kubeconfig.ts'
import { createKubernetesContainers } from '../../server/src/ports/containers/kubernetes/kubernetes.ts'
import type { Pod } from '../../server/src/ports/containers/kubernetes/objects.ts'
import { idLabel } from '../../server/src/ports/containers/kubernetes/record.ts'
import { runsOf } from '../../server/src/ports/containers/kubernetes/state.ts'
import { testSettings } from '../../server/src/ports/containers/kubernetes/test/settings.ts'
import { containersSuite } from '../../server/src/ports/containers/suite.ts'

const { ROOST_TEST_KUBECONFIG: file, ROOST_TEST_CLUSTER_IMAGE: image = 'roost-test:1' } = process.env
const namespace = 'default'

const settings = { ...testSettings, sharedStorageClass: 'roost-shared', probeImage: image }

if (file === undefined) test('containers of a Kubernetes cluster', { skip: 'no ROOST_TEST_KUBECONFIG' })
else
  containersSuite('containers of a Kubernetes cluster', async () => {
    const connection = await findConnection({ file, context: null, namespace: null }, {})
    const relay = await openRelay(connection.server)
    const direct = createApi(connection, { namespace })
    const open = (to: Connection) =>
      createKubernetesContainers(to, {
        ...{ namespace, settings, startSeconds: 60 },
        install: `roost-test-${randomBytes(4).toString('hex')}`,
      })
    const containers = open({ ...connection, server: relay.url })
    const neighbour = open(connection)
    const away = open({ ...connection, server: new URL('https://127.0.0.1:1') })
    return {
      ...{ containers, neighbour, away, image },
      tellsMemoryKills: true,
      ...{ hasLayers: false, runsElsewhere: true },
      async crash(id) {
        const { items } = await direct.list<Pod>('pods', { labelSelector: `${idLabel}=${id}` })
        const run = items.flatMap(runsOf).find(({ end }) => end === null)
        assert.ok(run)
        process.kill(firstProcess(run.containerId), 'SIGKILL')
      },
      async interruptEvents() {
        relay.cut()
      },
      async close() {
        for (const each of [containers, neighbour, away]) await each.close()
        direct.close()
        relay.close()
      },
    }
  })

/** The nodes are namespaces of this machine, so it sees their processes. */
function firstProcess(containerId: string): number {
  const id = containerId.replace(/^.*:\/\//, '')
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => cgroupsOf(pid).includes(id))
    .map(Number)
  assert.ok(pids.length > 0, `no process of container ${id} on this machine`)
  return Math.min(...pids)
}

function cgroupsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return ''
  }
}

/** A TCP relay to the API server whose connections the test can cut. */
async function openRelay(server: URL) {
  const sockets = new Set<Socket>()
  const relay = createServer((client) => {
    const api = connect(Number(server.port || 443), server.hostname)
    for (const [from, to] of [
      [client, api],
      [api, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  const { port } = relay.address() as { port: number }
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: new URL(`https://127.0.0.1:${port}`),
    cut,
    close() {
      relay.close()
      cut()
    },
  }
}
