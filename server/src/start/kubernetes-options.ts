import type { Config } from '../config.ts'
import { namedImage } from '../ports/agent-images/named-image.ts'
import { agentRuntimes } from '../ports/agent-images/port.ts'
import type { OpenContainersOptions } from '../ports/containers/open.ts'

/** The settings `ROOST_KUBERNETES_*` for the container port. */
export function kubernetesOptions(
  config: Config,
  env: Record<string, string | undefined>,
): OpenContainersOptions['kubernetes'] {
  const pods = config.kubernetesPlatformPods
  const [firstRuntime] = agentRuntimes
  return {
    env,
    namespace: config.kubernetesNamespace,
    settings: {
      platformHost: config.kubernetesPlatformHost,
      platformPods: Object.keys(pods).length > 0 ? pods : null,
      probeImage:
        config.agentImage !== null && firstRuntime ? namedImage(config.agentImage, firstRuntime).image : null,
      closedNetworks: config.kubernetesClosedNetworks,
      storageClass: config.kubernetesStorageClass,
      sharedStorageClass: config.kubernetesSharedStorageClass,
      accessMode: config.kubernetesAccessMode,
      volumeSize: config.kubernetesVolumeSize,
      sshNodePorts: config.kubernetesSshNodePorts,
      cpuRequest: config.kubernetesCpuRequest,
      memoryRequest: config.kubernetesMemoryRequest,
      diskLimit: config.kubernetesDiskLimit,
      nodeSelector: config.kubernetesNodeSelector,
      tolerations: config.kubernetesTolerations,
      priorityClass: config.kubernetesPriorityClass,
      imagePullSecrets: config.kubernetesImagePullSecrets,
      labels: config.kubernetesPodLabels,
      annotations: config.kubernetesPodAnnotations,
    },
  }
}
