import type { KubernetesSettings } from '../kubernetes.ts'

/** Settings of tests: the defaults of the cluster, and small requests. */
export const testSettings: KubernetesSettings = {
  nodeSelector: {},
  tolerations: [],
  priorityClass: null,
  imagePullSecrets: [],
  cpuRequest: '10m',
  memoryRequest: '16Mi',
  diskLimit: null,
  labels: {},
  annotations: {},
  storageClass: null,
  sharedStorageClass: null,
  accessMode: 'ReadWriteOnce',
  volumeSize: '64Mi',
  platformHost: '127.0.0.1',
  platformPods: null,
  probeImage: null,
  closedNetworks: [],
  sshNodePorts: false,
}
