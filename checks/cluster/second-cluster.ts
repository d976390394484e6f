/** Starts a cluster, sends its name to the parent, and waits to be killed. */
import { startCluster } from '@roost/test-support/cluster/index'

const cluster = await startCluster({ nodes: 1 })
process.send?.(cluster.name)
