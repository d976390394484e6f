/** Starts a cluster for development and keeps it until Ctrl-C: `node test-support/src/cluster/start.ts --image NAME`. */
import { parseArgs } from 'node:util'
import { startCluster } from './index.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '3' },
    image: { type: 'string', multiple: true, default: [] },
  },
})

// Ctrl-C also ends an unfinished start: the kernel ends its processes, and the next start removes the rest.
const cluster = await startCluster({
  nodes: Number(values.nodes),
  images: values.image,
  onProgress: (text) => console.log(text),
})
console.log(
  `export KUBECONFIG=${cluster.kubeconfig}\nThe machine is ${cluster.hostAddress} for pods. Ctrl-C ends the cluster.`,
)
const keepAlive = setInterval(() => {}, 60_000)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await cluster.close()
    clearInterval(keepAlive)
  })
}
