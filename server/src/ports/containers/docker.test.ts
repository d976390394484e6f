import assert from 'node:assert/strict'
import { createDockerContainers } from './docker/docker.ts'
import { openTestEngine } from './docker/test-engine.ts'
import { containersSuite } from './suite.ts'

const url = process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:'

containersSuite('containers of a Docker engine', async () => {
  const engine = await openTestEngine(url)
  const neighbours = await openTestEngine(url)
  return {
    containers: createDockerContainers(engine.line.url, { install: engine.mark, network: engine.mark }),
    neighbour: createDockerContainers(url, { install: neighbours.mark, network: neighbours.mark }),
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
      engine.line.cut()
    },
    async close() {
      await engine.close()
      await neighbours.close()
    },
  }
})
