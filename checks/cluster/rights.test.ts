/** The rights of the chart's ServiceAccount suffice for the adapter, and it needs each of them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  type Cluster,
  type KubeObject as StoredObject,
  startCluster,
} from '@roost/test-support/cluster/index'
import { stringify } from 'yaml'
import { findConnection } from '../../server/src/ports/containers/kubernetes/kubeconfig.ts'
import { createKubernetesContainers } from '../../server/src/ports/containers/kubernetes/kubernetes.ts'
import { testSettings } from '../../server/src/ports/containers/kubernetes/test/settings.ts'
import {
  ContainerError,
  type ContainerSpec,
  type Containers,
} from '../../server/src/ports/containers/port.ts'
import { cacheFolder, type KubeObject, release, render, skip } from '../helm/helm.ts'

type StoredSecret = StoredObject & { data?: Record<string, string> }
type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] }
const run = promisify(execFile)
const image = 'roost-rights-check:1'
const agents = `${release.namespace}-agents`
const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${agents}/roles`

describe('the rights of the API', { skip }, () => {
  let cluster: Cluster
  let rules: Rule[] = []
  let kubeconfig = ''

  before(async () => {
    await createImage()
    cluster = await startCluster({ nodes: 1, images: [image] })
    const { api } = cluster
    const kinds = ['Namespace', 'ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']
    const objects = (await render({ agents: { sshNodePorts: true } })).filter(({ kind }) =>
      kinds.includes(kind),
    )
    await api.request('POST', '/api/v1/namespaces', { metadata: { name: release.namespace } })
    for (const kind of kinds)
      for (const object of objects.filter((each) => each.kind === kind)) await create(object)
    rules = objects.find(({ kind }) => kind === 'Role')?.rules
    kubeconfig = await accountConfig()
  })
  after(async () => {
    await cluster?.close()
  })

  /** An image that prints `ready` and waits for a signal. */
  async function createImage(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'roost-rights-'))
    try {
      await copyFile('/bin/busybox', join(folder, 'busybox'))
      const script = 'trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done'
      const recipe = [
        'FROM scratch',
        'COPY busybox /bin/busybox',
        'RUN ["/bin/busybox", "--install", "-s", "/bin"]',
        `ENTRYPOINT ${JSON.stringify(['/bin/sh', '-c', script])}`,
      ]
      await writeFile(join(folder, 'Dockerfile'), recipe.join('\n'))
      await run('docker', ['build', '-q', '-t', image, folder])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async function create(object: KubeObject): Promise<void> {
    const { apiVersion, kind, metadata } = object
    const plural = `${kind.toLowerCase()}s`
    const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const isCluster = /^(Namespace|ClusterRole|ClusterRoleBinding)$/.test(kind)
    const place = isCluster ? '' : `/namespaces/${metadata.namespace ?? release.namespace}`
    await cluster.api.request('POST', `${group}${place}/${plural}`, object)
  }

  /** A kubeconfig with a token of the ServiceAccount. */
  async function accountConfig(): Promise<string> {
    const path = `/api/v1/namespaces/${release.namespace}/secrets`
    const token = await cluster.api.until<StoredSecret, string>(path, (secrets) => {
      const own = secrets.find(
        ({ metadata }) => metadata.annotations?.['kubernetes.io/service-account.name'] === 'roost-api',
      )
      return own?.data?.token
    })
    const file = join(await cacheFolder(), `account-${process.pid}.yaml`)
    const ca = Buffer.from(cluster.credentials.ca).toString('base64')
    const config = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: cluster.server, 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { token: Buffer.from(token, 'base64').toString() } }],
    }
    await writeFile(file, stringify(config), { mode: 0o600 })
    return file
  }

  /** Performs all operations of the platform on one agent. */
  async function exercise(): Promise<void> {
    const connection = await findConnection({ file: kubeconfig, context: null, namespace: null }, {})
    const containers = createKubernetesContainers(connection, {
      namespace: agents,
      settings: { ...testSettings, sshNodePorts: true },
      startSeconds: 20,
      install: `rights-${randomBytes(4).toString('hex')}`,
    })
    try {
      await containers.ping()
      const network = { platformPorts: [8001], platformHosts: [], opened: [] }
      await containers.filterNetwork(network)
      await containers.filterNetwork({ ...network, platformPorts: [8003] })
      assert.doesNotMatch(containers.networkFilter.problem ?? '', /forbidden|right/i)
      const volume = `rights-${randomBytes(4).toString('hex')}`
      await containers.createVolume(volume, {})
      await containers.createVolume(volume, {})
      const { id } = await containers.create(specOf(volume))
      await containers.start(id)
      assert.equal((await containers.list())[0]?.status, 'running')
      assert.match(await containers.logs(id, 10), /ready/)
      await containers.protect?.(new Set([id]))
      const removal = removalOf(containers, id)
      removal.catch(() => {})
      // The claim stays until its container ends, and a new claim of its name waits for that.
      await cluster.api.request('DELETE', `/api/v1/namespaces/${agents}/persistentvolumeclaims/${volume}`)
      const created = containers.createVolume(volume, {})
      // Observed below; an earlier step may fail first.
      created.catch(() => {})
      await containers.stop(id, 1)
      assert.match(await containers.logs(id, 10), /ready/)
      await containers.remove(id)
      await created
      await removal
      await containers.removeVolume(volume)
    } finally {
      await containers.close()
    }
  }

  /** Resolves with the event of the removal. Rejects after 30 s, because without a right the events only retry. */
  async function removalOf(containers: Containers, id: string): Promise<void> {
    const signal = AbortSignal.timeout(30_000)
    for await (const event of containers.events(signal))
      if (event.type === 'removed' && event.id === id) return
    assert.fail('no event of the removal')
  }

  function specOf(volume: string): ContainerSpec {
    const ssh = { bind: '', port: randomInt(30_000, 32_768) }
    return {
      ...{ name: `rights-${randomBytes(4).toString('hex')}`, image, labels: {}, ssh },
      env: {},
      ...{ cpus: 1, memoryBytes: 64 * 1024 * 1024, maxProcesses: 64, tmpBytes: 1024 * 1024 },
      fullCapabilities: false,
      mounts: [{ type: 'volume', volume, target: '/home/developer' }],
    }
  }

  /** Needed only when two processes act at the same time, which does not happen here. */
  const onlyForOthers = ['pods get']

  test('they are enough for the life of an agent', async () => {
    await exercise()
  })

  test('without any one of them, that life is not possible', async () => {
    const all = rules.flatMap(({ resources, verbs }) =>
      verbs.map((verb) => ({ resource: resources[0] ?? '', verb })),
    )
    assert.equal(all.length, 24)
    const unneeded: string[] = []
    for (const { resource, verb } of all) {
      const left = rules.map((rule) =>
        rule.resources[0] === resource
          ? { ...rule, verbs: rule.verbs.filter((each) => each !== verb) }
          : rule,
      )
      await cluster.api.request('PATCH', `${roles}/roost-agents`, {
        rules: left.filter(({ verbs }) => verbs.length > 0),
      })
      const outcome = await exercise().then(
        () => null,
        (error: unknown) => error,
      )
      if (outcome === null) unneeded.push(`${resource} ${verb}`)
      else
        assert.ok(
          outcome instanceof ContainerError || outcome instanceof assert.AssertionError,
          String(outcome),
        )
    }
    assert.deepEqual(unneeded, onlyForOthers)
  })
})
