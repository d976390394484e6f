import assert from 'node:assert/strict'
import { containersSuite } from '../../suite.ts'
import { createDockerContainers } from '../docker.ts'
import { openTestEngine } from '../test-engine.ts'
import { openTestFilter } from './test-filter.ts'

const url = process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:'
const engineSocket = '/var/run/docker.sock'

containersSuite('containers of a Docker engine behind the engine filter', async () => {
  const engine = await openTestEngine(url)
  const neighbours = await openTestEngine(url)
  const behind = (install: string) =>
    openTestFilter({ engineSocket, install, isAllowedImage: (image) => image.startsWith('roost-test-') })
  const [filter, neighbourFilter] = await Promise.all([behind(engine.mark), behind(neighbours.mark)])
  return {
    containers: createDockerContainers(`docker://${filter.socket}`, {
      install: engine.mark,
      network: engine.mark,
    }),
    neighbour: createDockerContainers(`docker://${neighbourFilter.socket}`, {
      install: neighbours.mark,
      network: neighbours.mark,
    }),
    unfiltered: createDockerContainers(`docker://${engineSocket}`, {
      install: engine.mark,
      network: engine.mark,
    }),
    away: createDockerContainers('docker:///run/roost-test-nowhere.sock', { install: 'x', network: 'x' }),
    image: engine.image,
    tellsMemoryKills: true,
    hasLayers: true,
    runsElsewhere: false,
    async crash(id) {
      const { State } = await engine.docker.getContainer(id).inspect()
      assert.ok(State.Pid > 1)
      process.kill(State.Pid, 'SIGKILL')
    },
    async interruptEvents() {
      filter.cut()
    },
    async close() {
      await filter.close()
      await neighbourFilter.close()
      await engine.close()
      await neighbours.close()
      // The adapter needs exactly what the filter allows.
      assert.deepEqual(filter.refused, [])
    },
  }
})
