import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from './api.ts'
import { type Authority, createTokenKey } from './certificates.ts'
import { kubeconfig } from './configuration.ts'
import { type Daemon, lastLines, startDaemon } from './processes.ts'
import type { HeldSlot } from './record.ts'

export type ControlPlane = {
  stopApiServer(): Promise<void>
  startApiServer(): Promise<void>
  /** Removes old versions from the store, and restarts the API server, which remembers some of them. */
  expireWatches(): Promise<void>
  /** Paths of the logs by program. */
  logs: ReadonlyMap<string, string>
}

export type ControlPlaneOptions = {
  held: HeldSlot
  authority: Authority
  programs: string
  env: NodeJS.ProcessEnv
  server: string
  api: Api
  nodeMonitorGraceSeconds: number
}

const readyTimeoutMs = 120_000
/** No listener: the default ports may be taken. */
const withoutListener = ['--port=0', '--secure-port=0']

/** Starts etcd, the API server, the controller manager and the scheduler. They need some seconds to be ready. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { held, authority, programs, env, server, api } = options
  const { slot, folder } = held
  const logs = new Map<string, string>()
  const start = async (name: string, flags: string[]): Promise<Daemon> => {
    const log = join(folder, `${name}.log`)
    logs.set(name, log)
    const daemon = await startDaemon(join(programs, name), flags, { log, env })
    await held.add(daemon.pid)
    return daemon
  }

  const store = { client: `http://${slot.loopback}:2379`, peer: `http://${slot.loopback}:2380` }
  await start('etcd', [
    '--name=one',
    `--data-dir=${join(folder, 'etcd')}`,
    // Nothing of a test cluster survives a crash of the machine.
    '--unsafe-no-fsync',
    `--listen-client-urls=${store.client}`,
    `--advertise-client-urls=${store.client}`,
    `--listen-peer-urls=${store.peer}`,
    `--initial-advertise-peer-urls=${store.peer}`,
    `--initial-cluster=one=${store.peer}`,
  ])

  const [tokens, serving, kubeletClient] = await Promise.all([
    createTokenKey(folder),
    authority.issue('apiserver', '/CN=kube-apiserver', [
      ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'].map((name) => `DNS:${name}`),
      ...['kubernetes.default.svc.cluster.local', 'localhost'].map((name) => `DNS:${name}`),
      ...[slot.hostAddress, slot.apiServiceAddress, '127.0.0.1'].map((address) => `IP:${address}`),
    ]),
    authority.issue('kubelet-client', '/O=system:masters/CN=kube-apiserver-kubelet-client'),
  ])
  const apiFlags = [
    `--etcd-servers=${store.client}`,
    `--bind-address=${slot.hostAddress}`,
    `--advertise-address=${slot.hostAddress}`,
    `--secure-port=${slot.apiPort}`,
    `--tls-cert-file=${serving.certFile}`,
    `--tls-private-key-file=${serving.keyFile}`,
    `--client-ca-file=${authority.caFile}`,
    `--kubelet-client-certificate=${kubeletClient.certFile}`,
    `--kubelet-client-key=${kubeletClient.keyFile}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${tokens.privateFile}`,
    `--service-account-key-file=${tokens.publicFile}`,
    `--service-cluster-ip-range=${slot.serviceNetwork}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--anonymous-auth=false',
  ]
  let apiServer = await start('kube-apiserver', apiFlags)

  const clientFile = async (name: string) => {
    const path = join(folder, `${name}.kubeconfig`)
    await writeFile(path, kubeconfig(server, await authority.issue(name, `/CN=system:${name}`)), {
      mode: 0o600,
    })
    return path
  }
  const untilReady = async () => {
    for (const deadline = performance.now() + readyTimeoutMs; ; await pause(100)) {
      const problem = await api.text('/readyz').then(
        () => null,
        (error: unknown) => String(error),
      )
      if (problem === null) return
      if (apiServer.hasEnded() || performance.now() > deadline)
        throw new Error(
          `The API server is not ready: ${problem}\n${await lastLines(logs.get('kube-apiserver') ?? '')}`,
        )
    }
  }
  const stopApiServer = () => apiServer.kill()
  const startApiServer = async () => {
    if (!apiServer.hasEnded()) return
    apiServer = await start('kube-apiserver', apiFlags)
    await untilReady()
  }
  await untilReady()
  // Only now, because they give up if the API server takes more than 10 s to start.
  await start('kube-controller-manager', [
    `--kubeconfig=${await clientFile('kube-controller-manager')}`,
    '--leader-elect=false',
    ...withoutListener,
    `--service-account-private-key-file=${tokens.privateFile}`,
    `--root-ca-file=${authority.caFile}`,
    '--use-service-account-credentials',
    `--flex-volume-plugin-dir=${join(folder, 'volume-plugins')}`,
    `--node-monitor-grace-period=${options.nodeMonitorGraceSeconds}s`,
  ])
  await start('kube-scheduler', [
    `--kubeconfig=${await clientFile('kube-scheduler')}`,
    '--leader-elect=false',
    ...withoutListener,
  ])
  return {
    logs,
    stopApiServer,
    startApiServer,
    async expireWatches() {
      await stopApiServer()
      await compact(store.client)
      await startApiServer()
    },
  }
}

/** Removes all versions but the current ones from etcd, through its JSON gateway. */
async function compact(url: string): Promise<void> {
  // Writes first: otherwise the version that a client read last could be the current one, which stays valid.
  const key = Buffer.from('roost-test').toString('base64')
  const put = await post(`${url}/v3/kv/put`, { key, value: '' })
  const revision = (put as { header?: { revision?: string } }).header?.revision
  if (!revision) throw new Error('etcd names no revision')
  await post(`${url}/v3/kv/compaction`, { revision, physical: true })
}

function post(url: string, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', timeout: 30_000 }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      if (response.statusCode === 200) resolve(JSON.parse(text))
      else reject(new Error(`POST ${url}: ${response.statusCode} ${text}`))
    })
    sent.once('error', reject)
    sent.end(JSON.stringify(body))
  })
}
