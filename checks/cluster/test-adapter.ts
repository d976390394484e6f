import { randomBytes } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { type Cluster, startCluster } from '@roost/test-support/cluster/index'
import { openTestEngine, type TestEngine } from '../../server/src/ports/containers/docker/test-engine.ts'
import { type Connection, findConnection } from '../../server/src/ports/containers/kubernetes/kubeconfig.ts'
import {
  createKubernetesContainers,
  type KubernetesSettings,
} from '../../server/src/ports/containers/kubernetes/kubernetes.ts'
import { testSettings } from '../../server/src/ports/containers/kubernetes/test/settings.ts'

/** A cluster with the image of the containers suite on its nodes. */
export type TestAdapter = {
  cluster: Cluster
  image: string
  connection: Connection
  /** Containers of a new installation, in the namespace `default`. */
  open(settings?: Partial<KubernetesSettings>, to?: Connection): ReturnType<typeof createKubernetesContainers>
  close(): Promise<void>
}

export async function openTestAdapter(): Promise<TestAdapter> {
  // The image is made by this machine's engine.
  const engine: TestEngine = await openTestEngine('docker:')
  const cluster = await startCluster({ images: [engine.image], nodeMonitorGraceSeconds: 8 }).catch(
    async (error: unknown) => {
      await engine.close()
      throw error
    },
  )
  const file = cluster.kubeconfig
  const connection = await findConnection({ file, context: null, namespace: null }, {})
  const base: KubernetesSettings = {
    ...testSettings,
    storageClass: cluster.storageClasses.local,
    sharedStorageClass: cluster.storageClasses.shared,
    platformHost: cluster.hostAddress,
    probeImage: engine.image,
  }
  const opened: ReturnType<typeof createKubernetesContainers>[] = []
  return {
    cluster,
    image: engine.image,
    connection,
    open(settings = {}, to = connection) {
      const containers = createKubernetesContainers(to, {
        install: `roost-test-${randomBytes(4).toString('hex')}`,
        namespace: 'default',
        settings: { ...base, ...settings },
      })
      opened.push(containers)
      return containers
    },
    async close() {
      for (const containers of opened) await containers.close()
      await cluster.close()
      await engine.close()
    },
  }
}

/** A TCP relay to the API server whose connections the test can cut. */
export async function openRelay(server: URL) {
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
