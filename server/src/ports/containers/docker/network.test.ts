import assert from 'node:assert/strict'
import { test } from 'node:test'
import Docker from 'dockerode'
import { ContainerError } from '../port.ts'
import { ensureAgentsNetwork } from './network.ts'
import { createTraits } from './traits.ts'

/** The questions of an engine that says to be this, in place of a socket. */
const engineOf = (components: string[]) => {
  const asked: string[] = []
  const answers = [
    { Version: '5.0', Components: components.map((Name) => ({ Name })) },
    { NCPU: 2, MemTotal: 1 },
  ]
  // Whatever is asked for, the answers come in this order.
  const ask = async (what: string) => {
    asked.push(what)
    return answers.shift() as never
  }
  return { docker: new Docker({ socketPath: '/nonexistent' }), ask, asked }
}

test('with Podman no network is closed, and its traits say why; with Docker one can be', async () => {
  const podman = engineOf(['Podman Engine'])
  const traits = createTraits(podman.docker, podman.ask)
  await traits.refresh()
  assert.equal(traits.closing().can, false)
  assert.match(traits.closing().notes.join(), /Podman/)
  podman.asked.length = 0
  await assert.rejects(
    ensureAgentsNetwork(podman.docker, podman.ask, 'agents-closed', 'i', {
      canSeparate: false,
      isClosed: true,
    }),
    (error) => error instanceof ContainerError && error.fault === 'engine_fault',
  )
  assert.deepEqual(podman.asked, [], 'nothing is made')
  const docker = engineOf(['Engine'])
  const others = createTraits(docker.docker, docker.ask)
  await others.refresh()
  assert.equal(others.closing().can, true)
})
