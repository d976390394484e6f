/** The suite of the containers port on a real cluster. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import type { Pod } from '../../server/src/ports/containers/kubernetes/objects.ts'
import { idLabel } from '../../server/src/ports/containers/kubernetes/record.ts'
import { runsOf } from '../../server/src/ports/containers/kubernetes/state.ts'
import { containersSuite } from '../../server/src/ports/containers/suite.ts'
import { openRelay, openTestAdapter } from './test-adapter.ts'

containersSuite('containers of a Kubernetes cluster', async () => {
  const { cluster, connection, image, open, close } = await openTestAdapter()
  const relay = await openRelay(connection.server)
  return {
    containers: open({}, { ...connection, server: relay.url, serverName: connection.server.hostname }),
    neighbour: open(),
    away: open({}, { ...connection, server: new URL('https://127.0.0.1:1') }),
    image,
    tellsMemoryKills: true,
    hasLayers: false,
    runsElsewhere: true,
    async crash(id) {
      const path = `/api/v1/namespaces/default/pods?labelSelector=${idLabel}%3D${id}`
      const { items } = await cluster.api.request<{ items: Pod[] }>('GET', path)
      const run = items.flatMap(runsOf).find(({ end }) => end === null)
      assert.ok(run)
      process.kill(firstProcess(run.containerId), 'SIGKILL')
    },
    async interruptEvents() {
      relay.cut()
    },
    async close() {
      relay.close()
      await close()
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
