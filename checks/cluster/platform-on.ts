/** The settings of a platform whose agents run on a test cluster. */
import { join } from 'node:path'
import { findPrograms } from '@roost/test-support/cluster/build'
import type { Cluster } from '@roost/test-support/cluster/index'
import { openAgentImages } from '../../server/src/ports/agent-images/open.ts'
import { connect } from '../../server/src/ports/containers/docker/connect.ts'

const runtimes = ['claude-code', 'gemini-cli', 'codex'] as const
type AgentImages = Record<(typeof runtimes)[number], string>

/** Returns the names of the agent images. Builds those of the given runtimes with this machine's engine if needed. */
export async function agentImages(
  needed: readonly (typeof runtimes)[number][] = runtimes,
): Promise<AgentImages> {
  const images = await openAgentImages('docker:', {
    ...{ connect, agentImage: null, dataDir: '', env: process.env },
  })
  for (const runtime of needed) await images.ensure(runtime, () => {})
  const nameOf = (runtime: (typeof runtimes)[number]) => images.tagFor(runtime).image
  return {
    'claude-code': nameOf('claude-code'),
    'gemini-cli': nameOf('gemini-cli'),
    codex: nameOf('codex'),
  }
}

/** Variables with which `checks/acceptance/engine.ts` looks at the agents on the cluster. */
export async function kubectlOf(cluster: Cluster): Promise<Record<string, string>> {
  const programs = await findPrograms(process.env)
  if (!programs) throw new Error('The control plane is not built.')
  return {
    KUBECONFIG: cluster.kubeconfig,
    ROOST_TEST_KUBECTL: join(programs, 'kubectl'),
    ROOST_TEST_SSH_HOST: cluster.node(1).address,
  }
}

/** Volumes can be mounted on every node, so that agents can leave a lost one. */
export function platformOn(cluster: Cluster, images: AgentImages): Record<string, string> {
  return {
    ROOST_CONTAINERS_URL: `kubernetes://${cluster.kubeconfig}?namespace=default`,
    ROOST_AGENT_IMAGE: Object.entries(images)
      .map(([runtime, image]) => `${runtime}=${image}`)
      .join(','),
    ROOST_KUBERNETES_PLATFORM_HOST: cluster.hostAddress,
    ROOST_KUBERNETES_STORAGE_CLASS: cluster.storageClasses.shared,
    ROOST_KUBERNETES_ACCESS_MODE: 'ReadWriteMany',
    ROOST_KUBERNETES_SSH_NODE_PORTS: 'true',
    ROOST_SSH_PORT_RANGE: '30000-32767',
  }
}
