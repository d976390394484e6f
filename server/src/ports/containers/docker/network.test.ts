import assert from 'node:assert/strict'
import { test } from 'node:test'
import Docker from 'dockerode'
import { ContainerError } from '../port.ts'
import { ensureAgentsNetwork } from './network.ts'
import { createTraits } from './traits.ts'

/** Simulates an engine with these components. */
const engineOf = (components: string[]) => {
  const requests: string[] = []
  const answers = [
    { Version: '5.0', Components: components.map((Name) => ({ Name })) },
    { ID: 'an-engine', Name: 'host', DockerRootDir: '/var/lib/docker', NCPU: 2, MemTotal: 1 },
  ]
  // The answers come in this order, whatever is requested.
  const ask = async (what: string) => {
    requests.push(what)
    return answers.shift() as never
  }
  return { docker: new Docker({ socketPath: '/nonexistent' }), ask, requests }
}

test('Podman has no closed networks and its notes say why; Docker has them', async () => {
  const podman = engineOf(['Podman Engine'])
  const traits = createTraits(podman.docker, podman.ask)
  await traits.refresh()
  assert.equal(traits.closing(false).can, false)
  assert.match(traits.closing(false).notes.join(), /Podman/)
  podman.requests.length = 0
  await assert.rejects(
    ensureAgentsNetwork(podman.docker, podman.ask, 'agents-closed', 'i', {
      canSeparate: false,
      isClosed: true,
    }),
    (error) => error instanceof ContainerError && error.fault === 'engine_fault',
  )
  assert.deepEqual(podman.requests, [], 'no network is created')
  const docker = engineOf(['Engine'])
  const others = createTraits(docker.docker, docker.ask)
  await others.refresh()
  assert.equal(others.closing(false).can, true)
})

test('an engine without a free address range is reported with what to do', async () => {
  const { docker } = engineOf(['Engine'])
  for (const words of [
    'could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network',
    'all predefined address pools have been fully subnetted',
  ]) {
    const ask = async (what: string) => {
      if (what.startsWith('list')) return [] as never
      throw new ContainerError('engine_fault', `${what}: ${words}`)
    }
    await assert.rejects(
      ensureAgentsNetwork(docker, ask, 'agents', 'i', { canSeparate: true, isClosed: false }),
      (error) => error instanceof ContainerError && /agents; remove unused networks/.test(error.message),
    )
  }
})
