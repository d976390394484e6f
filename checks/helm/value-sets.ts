/** Values of ten installations, from a trial to production. */
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

const servers = {
  bundledPostgres: { enabled: false },
  bundledRedis: { enabled: false },
}

export const valueSets: Record<string, object> = {
  'a trial without settings': {},
  'servers of the operator, with addresses as values': {
    ...servers,
    database: {
      url: 'postgres://roost:pw@db.example.com/roost?sslmode=verify-full&sslrootcert=/etc/roost/ca.crt',
    },
    redis: { url: 'rediss://:pw@cache.example.com:6379/0' },
    caBundle: { configMap: 'authorities', key: 'bundle.pem' },
  },
  'servers and secrets of the operator, by name': {
    ...servers,
    secret: { existing: 'roost-own' },
    database: { existingSecret: { name: 'roost-database', key: 'address' } },
    redis: { existingSecret: { name: 'roost-redis' } },
    secretSettings: { existing: 'roost-keys' },
  },
  'an ingress with a certificate': {
    baseUrl: 'https://roost.example.com',
    trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
    ingress: { enabled: true, className: 'nginx', host: 'roost.example.com', tlsSecret: 'roost-tls' },
    networkPolicies: {
      publicFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    },
  },
  'an autoscaled API': {
    api: { autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 9 }, drainSeconds: 20 },
    mcp: { replicas: 4 },
  },
  'a private registry and images by digest': {
    registry: 'registry.example.com:5000/roost',
    images: { platform: { digest }, backup: { digest }, agent: `registry.example.com:5000/agent@${digest}` },
    imagePullPolicy: 'Always',
    imagePullSecrets: ['registry'],
    agents: { imagePullSecrets: ['registry'] },
  },
  'agents on nodes of their own with shared folders and a quota': {
    history: { storageClass: 'nfs', size: '20Gi' },
    agents: {
      namespace: 'workers',
      createNamespace: false,
      storageClass: 'fast',
      sharedStorageClass: 'nfs',
      accessMode: 'ReadWriteMany',
      volumeSize: '5Gi',
      sshNodePorts: true,
      requests: { cpu: '50m', memory: '128Mi' },
      diskLimit: '0',
      closedNetworks: ['11.0.0.0/8', '2600:1f00::/24'],
      nodeSelector: { role: 'agents' },
      tolerations: [
        { key: 'agents', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'team', value: 'a' },
      ],
      priorityClassName: 'low',
      podLabels: { team: "o'brien" },
      podAnnotations: { note: 'a "quoted" text' },
      quota: { pods: 60, 'requests.storage': '500Gi' },
    },
  },
  'no rights outside of the namespaces': { clusterRights: false, agents: { createNamespace: false } },
  'metrics for the Prometheus Operator': {
    serviceMonitor: { enabled: true, interval: '15s', labels: { release: 'monitoring' } },
    networkPolicies: {
      metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    },
  },
  'one pod of each program, with settings, without policies': {
    api: {
      replicas: 1,
      nodeSelector: { zone: 'a' },
      tolerations: [{ operator: 'Exists' }],
      podAnnotations: { a: 'b' },
    },
    scheduler: { replicas: 1, priorityClassName: 'high', podAnnotations: { a: 'b' } },
    mcp: { replicas: 1, podAnnotations: { a: 'b' } },
    networkPolicies: { enabled: false },
    migrations: { backup: false, storageClass: 'slow' },
    bundledPostgres: { storageClass: 'fast', size: '1Gi' },
    settings: { ROOST_LOG_LEVEL: 'debug', ROOST_QUEUE_DEPTH: '10', ROOST_MCP_CHAT_TIMEOUT_MS: '20000' },
    secretSettings: { values: { ANTHROPIC_API_KEY: 'sk-ant-secret' } },
    listenAddress: '::',
  },
}
