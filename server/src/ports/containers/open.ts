import type { Clock } from '../../kit/clock.ts'
import { createDockerContainers } from './docker/docker.ts'
import { createFakeEngine } from './fake.ts'
import { findConnection, parseKubernetesUrl } from './kubernetes/kubeconfig.ts'
import { createKubernetesContainers, type KubernetesOptions } from './kubernetes/kubernetes.ts'
import type { Containers } from './port.ts'
import { createSandboxContainers, type SandboxOptions } from './sandbox/sandbox.ts'

export type OpenContainersOptions = {
  /** Separates this installation's containers, volumes and network from others on the same engine. */
  install: string
  /** `docker:` only: name of the agents' network, unique per installation on an engine. */
  network: string
  /** `sandbox:` only: its state folder and the resolver of image names. */
  sandbox: Pick<SandboxOptions, 'stateDir' | 'resolveImage' | 'bwrapPath'>
  /** `kubernetes:` only. `env` finds the cluster and is passed to credential programs. */
  kubernetes: Pick<KubernetesOptions, 'namespace' | 'settings'> & {
    env: Record<string, string | undefined>
  }
  /** `fake:` only: names of its images. */
  fakeImages?: string[]
  clock?: Clock
}

/**
 * Opens the container engine of a URL: `docker:` (default socket or `DOCKER_HOST`), `docker:///path.sock`,
 * `docker:tcp://host:port`, `sandbox:`, `kubernetes:[///kubeconfig][?context=…&namespace=…]`, `fake:`. Makes no request: `ping` detects an unreachable engine.
 * Other URLs throw an Error that names ROOST_CONTAINERS_URL.
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
    case 'kubernetes': {
      const parsed = parseKubernetesUrl(url)
      const { env, settings, namespace } = options.kubernetes
      return createKubernetesContainers(await findConnection(parsed, env), {
        ...{ install, settings, clock },
        namespace: parsed.namespace ?? namespace,
      })
    }
    case 'fake':
      return createFakeEngine({ clock, images: options.fakeImages }).containers(install)
    default:
      throw new Error(
        `ROOST_CONTAINERS_URL: ${JSON.stringify(url)} names no known engine; use docker:, docker:///path/to.sock, docker:tcp://host:port, kubernetes: or sandbox:`,
      )
  }
}
