import type { Credentials } from './api.ts'
import type { NodePlan, Slot } from './slot.ts'

/** Configuration files, all as JSON, which every reader of YAML accepts. */

export const clusterDomain = 'cluster.local'

export function kubeconfig(server: string, { ca, cert, key }: Credentials): string {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  const name = 'roost-test'
  return json({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server, 'certificate-authority-data': encode(ca) } }],
    users: [{ name, user: { 'client-certificate-data': encode(cert), 'client-key-data': encode(key) } }],
  })
}

export type KubeletOptions = {
  slot: Slot
  node: NodePlan
  /** Folder of the node's files. */
  folder: string
  caFile: string
}

export function kubeletConfiguration({ slot, node, folder, caFile }: KubeletOptions): string {
  return json({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: node.address,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: caFile },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: `${folder}/kubelet.crt`,
    tlsPrivateKeyFile: `${folder}/kubelet.key`,
    cgroupDriver: 'cgroupfs',
    // Nodes share the hierarchies of the machine.
    cgroupRoot: `/${node.controlGroup}`,
    clusterDNS: [slot.hostAddress],
    clusterDomain,
    resolvConf: `${folder}/resolv.conf`,
    failSwapOn: false,
    protectKernelDefaults: true,
    nodeStatusUpdateFrequency: '1s',
    // The defaults since 1.27. The earlier ones, 5 and 10, delay the pods of a lost node by half a minute.
    kubeAPIQPS: 50,
    kubeAPIBurst: 100,
    // Before 1.22, the end of a pod without containers is noticed only at such a synchronization; the default is 60.
    syncFrequency: '10s',
    // The nodes share one disk, on which the images of all of them are linked.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: {
      'memory.available': '200Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    volumePluginDir: `${folder}/volume-plugins`,
    healthzBindAddress: '127.0.0.1',
    featureGates: { DevicePlugins: false },
    podPidsLimit: 1024,
  })
}

export function kubeProxyConfiguration({ slot, node, folder }: Omit<KubeletOptions, 'caFile'>): string {
  return json({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    bindAddress: node.address,
    hostnameOverride: node.name,
    clientConnection: { kubeconfig: `${folder}/kube-proxy.kubeconfig` },
    clusterCIDR: slot.network,
    mode: 'iptables',
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    // Limits of the whole machine, which belong to its owner.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  })
}

/** Pods get a link of their own that is routed, so that replies pass the Service rules of their node. */
export function podNetworkConfiguration({ podNetwork }: NodePlan): string {
  return json({
    cniVersion: '0.3.1',
    name: 'pods',
    type: 'ptp',
    ipam: {
      type: 'host-local',
      dataDir: '/run/cni',
      ranges: [[{ subnet: podNetwork }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  })
}

export type ContainerdOptions = {
  /** Images and containers; survives a power cut. */
  root: string
  /** Sockets and running containers; lost in a power cut. */
  state: string
  socket: string
  /** Folder of the pod network's configuration; null for an engine without pods. */
  podNetworkFolder: string | null
  pauseImage: string
}

export function containerdConfiguration(options: ContainerdOptions): string {
  const { root, state, socket, podNetworkFolder, pauseImage } = options
  const common = [
    'version = 2',
    `root = "${root}"`,
    `state = "${state}"`,
    '[grpc]',
    `  address = "${socket}"`,
  ]
  const unused = ['aufs', 'btrfs', 'devmapper', 'native', 'zfs']
    .map((name) => `"io.containerd.snapshotter.v1.${name}"`)
    .concat(podNetworkFolder ? [] : ['"io.containerd.grpc.v1.cri"'])
  const cri = '[plugins."io.containerd.grpc.v1.cri"]'
  const pods = podNetworkFolder
    ? [
        cri,
        `  sandbox_image = "${pauseImage}"`,
        // Root without CAP_SYS_RESOURCE may not lower the score of a process.
        '  restrict_oom_score_adj = true',
        cri.replace(']', '.cni]'),
        '  bin_dir = "/usr/lib/cni"',
        `  conf_dir = "${podNetworkFolder}"`,
        cri.replace(']', '.containerd.runtimes.runc]'),
        '  runtime_type = "io.containerd.runc.v2"',
      ]
    : []
  return `${[`disabled_plugins = [${unused.join(', ')}]`, ...common, ...pods].join('\n')}\n`
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
