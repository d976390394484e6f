import type { Clock } from '../../kit/clock.ts'
import { createDockerContainers } from './docker/docker.ts'
import { createFakeEngine } from './fake.ts'
import type { Containers } from './port.ts'
import { createSandboxContainers, type SandboxOptions } from './sandbox/sandbox.ts'

export type OpenContainersOptions = {
  /** Keeps this installation's containers, volumes and network apart from any other's on the same engine. */
  install: string
  /** `docker:` only: name of the agents' network. Two installations on one engine need two names. */
  network: string
  /** `sandbox:` only: where its state goes and what an image name stands for. */
  sandbox: Pick<SandboxOptions, 'stateDir' | 'resolveImage' | 'bwrapPath'>
  /** `fake:` only: the images it pretends to have. */
  fakeImages?: string[]
  clock?: Clock
}

/**
 * The container engine that a URL names: `docker:` (default socket or `DOCKER_HOST`), `docker:///path.sock`,
 * `docker:tcp://host:port`, `sandbox:`, `fake:`. Does not ask the engine anything yet: an engine that is
 * away is found out by `ping`. Throws an Error that names ROOST_CONTAINERS_URL for anything else.
 */
export async function openContainers(url: string, options: OpenContainersOptions): Promise<Containers> {
  const { install, network, clock } = options
  const scheme = /^([a-z]+):/.exec(url)?.[1]
  switch (scheme) {
    case 'docker':
      return createDockerContainers(url, { install, network, clock })
    case 'sandbox':
      if (url !== 'sandbox:') throw new Error(`ROOST_CONTAINERS_URL: nothing may follow sandbox: in ${url}`)
      return createSandboxContainers({ install, clock, ...options.sandbox })
    case 'fake':
      return createFakeEngine({ clock, images: options.fakeImages }).containers(install)
    default:
      throw new Error(
        `ROOST_CONTAINERS_URL: ${JSON.stringify(url)} names no known engine; use docker:, docker:///path/to.sock, docker:tcp://host:port or sandbox:`,
      )
  }
}
