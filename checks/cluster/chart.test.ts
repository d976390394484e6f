/** The chart installed, upgraded and rolled back by Helm on a real cluster: three API pods, agents and their history. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { type Cluster, type KubeObject, startCluster } from '@roost/test-support/cluster/index'
import { type ModelServer, startModelServer } from '@roost/test-support/model/index'
import { findPostgres, type Service, startPostgres, startRedis } from '../../cli/src/testing/services.ts'
import {
  adminPassword,
  canaries,
  eventually,
  type Loose,
  type Reply,
  signIn,
} from '../acceptance/platform.ts'
import { buildImages } from '../compose/stack.ts'
import { chart, helm, release, skip } from '../helm/helm.ts'
import { agentImages } from './platform-on.ts'

type Container = { env: { name: string; value?: string }[] }
type Pod = KubeObject & {
  spec: { containers: Container[] }
  status: { phase: string; conditions?: { type: string; status: string }[] }
}
type Claim = KubeObject & { spec: { volumeName?: string } }

const run = promisify(execFile)
const agent = 'qa-chart'
/** Helm returns when the pods are ready and the migrations are over. */
const complete = ['--wait', '--wait-for-jobs', '--timeout', '10m']
const podsPath = `/api/v1/namespaces/${release.namespace}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Dapi`

describe('the chart on a cluster', { skip }, () => {
  const closing = new AsyncDisposableStack()
  let cluster: Cluster
  let model: ModelServer
  let url = ''
  let token = ''
  /** File with the values of the release. */
  let values = ''

  before(async () => {
    const [own, runtimes] = [await buildImages(), await agentImages(['claude-code'])]
    closing.defer(async () => {
      await run('docker', ['rmi', own.platform, own.backup])
    })
    cluster = await startCluster({ images: [own.platform, own.backup, runtimes['claude-code']] })
    closing.defer(() => cluster.close())
    model = await startModelServer({ host: cluster.hostAddress })
    closing.defer(() => model.close())
    const postgres = stopLater(await startPostgres((await findPostgres()) ?? assert.fail(), tmpdir()))
    const redis = stopLater(await startRedis(tmpdir()))
    const imageOf = (name: string) => {
      const [repository, tag] = name.split(':')
      return { repository, tag }
    }
    values = await writeValues({
      baseUrl: `http://${cluster.node(1).address}`,
      imagePullPolicy: 'Never',
      images: {
        platform: imageOf(own.platform),
        backup: imageOf(own.backup),
        agent: Object.entries(runtimes)
          .map(([runtime, image]) => `${runtime}=${image}`)
          .join(','),
      },
      bundledPostgres: { enabled: false },
      bundledRedis: { enabled: false },
      database: { url: await forward(postgres.url) },
      redis: { url: await forward(redis.url) },
      api: { replicas: 3, resources: { requests: { cpu: '50m' } } },
      history: { storageClass: cluster.storageClasses.shared, size: '1Gi' },
      migrations: { storageClass: cluster.storageClasses.shared, size: '1Gi' },
      agents: {
        storageClass: cluster.storageClasses.shared,
        accessMode: 'ReadWriteMany',
        volumeSize: '1Gi',
        requests: { cpu: '25m', memory: '64Mi' },
      },
      settings: { ANTHROPIC_BASE_URL: model.url },
      secretSettings: { values: { ANTHROPIC_API_KEY: canaries.anthropic } },
    })
    await mustHelm('install', release.name, chart, '--create-namespace', '--values', values, ...complete)
    url = await openToThisMachine()
    // The nodes learn of a Service a moment later. Until then kube-proxy accepts connections and answers none.
    const isLive = async () => (await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(2000) })).ok
    await eventually(() => isLive().catch(() => false), Boolean)
    assert.equal(
      (await request('POST', '/api/setup/admin-password', { password: adminPassword })).status,
      200,
    )
    token = await signIn({ url })
  })
  after(() => closing.disposeAsync())

  function stopLater(service: Service): Service {
    closing.defer(() => service.stop())
    return service
  }

  /** Makes a service of this machine reachable for pods, and returns its address for them. */
  async function forward(address: string): Promise<string> {
    const target = new URL(address)
    const port = Number(target.port)
    // A killed pod does not close its connections.
    const open = new Set<Socket>()
    const server: Server = createServer((near) => {
      open.add(near.on('close', () => open.delete(near)))
      const far = connect(port, '127.0.0.1')
      near.on('error', () => far.destroy())
      far.on('error', () => near.destroy())
      near.pipe(far).pipe(near)
    })
    await new Promise<void>((done) => server.listen(0, cluster.hostAddress, done))
    closing.defer(async () => {
      server.close()
      for (const near of open) near.destroy()
    })
    target.host = `${cluster.hostAddress}:${(server.address() as AddressInfo).port}`
    return target.href
  }

  async function writeValues(content: object): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'roost-chart-'))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'values.json')
    await writeFile(file, JSON.stringify(content), { mode: 0o600 })
    return file
  }

  async function mustHelm(...command: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await helm([...command, '--namespace', release.namespace], {
      KUBECONFIG: cluster.kubeconfig,
    })
    if (code !== 0)
      assert.fail(
        `${stdout}${stderr}\n${await cluster.kubectl('-n', release.namespace, 'get', 'events,pods', '-o', 'wide')}`,
      )
  }

  /** The address of the API for this machine, which no Service of the chart has. Connections go to any pod. */
  async function openToThisMachine(): Promise<string> {
    const path = `/api/v1/namespaces/${release.namespace}/services`
    const { spec } = await cluster.api.request<Loose>('GET', `${path}/${release.name}-api`)
    const service = await cluster.api.request<Loose>('POST', path, {
      metadata: { name: 'from-this-machine' },
      spec: { type: 'NodePort', selector: spec.selector, ports: [{ port: 8000, targetPort: 'public' }] },
    })
    return `http://${cluster.node(1).address}:${service.spec.ports[0].nodePort}`
  }

  /** With a connection of its own, so that it reaches any pod. Status 0 for a connection that was cut. */
  async function request(
    method: string,
    path: string,
    body?: object,
  ): Promise<Pick<Reply, 'status' | 'text' | 'json'>> {
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          connection: 'close',
          accept: 'application/json',
          'content-type': 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        body: body ? JSON.stringify(body) : null,
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      return { status: response.status, text, json: isJson ? JSON.parse(text) : null }
    } catch (error) {
      return { status: 0, text: String(error), json: null }
    }
  }

  const podsOf = async () => (await cluster.api.request<{ items: Pod[] }>('GET', podsPath)).items
  const isReady = ({ metadata, status }: Pod) =>
    metadata.deletionTimestamp === undefined &&
    status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
  const untilReady = (others: readonly Pod[] = []) =>
    eventually(podsOf, (pods) => {
      const isOld = ({ metadata }: Pod) => others.some((each) => each.metadata.uid === metadata.uid)
      return pods.filter((pod) => isReady(pod) && !isOld(pod)).length === 3
    })

  /** Of the API pods that serve; null is the default. */
  async function logLevels(): Promise<(string | null)[]> {
    const serving = (await podsOf()).filter(isReady)
    const levelOf = ({ env }: Container) => env.find(({ name }) => name === 'ROOST_LOG_LEVEL')?.value ?? null
    return serving.flatMap(({ spec }) => spec.containers.map(levelOf))
  }

  async function task(message: string): Promise<string> {
    const reply = await eventually(
      () => request('POST', `/api/agents/${agent}/task`, { message }),
      ({ status }) => status === 200,
    )
    return reply.json.execution_id
  }
  const noteDown = (text: string) => task(`[[tool:Bash:echo ${text} > note.txt]] [[reply:ok]]`)
  const note = () => request('GET', `/api/agents/${agent}/files/download?path=note.txt`)
  const changesOf = (run: string) => request('GET', `/api/executions/${run}/changes`)

  /** Sends requests during `work`, which may cut a tenth of them. Every other one succeeds. */
  async function serveDuring(t: TestContext, work: Promise<unknown>): Promise<void> {
    const statuses: number[] = []
    let isOver = false
    const over = work.finally(() => {
      isOver = true
    })
    while (!isOver) statuses.push((await request('GET', `/api/agents/${agent}`)).status)
    await over
    const cut = statuses.filter((status) => status === 0).length
    t.diagnostic(`${statuses.length} requests, ${cut} cut`)
    assert.deepEqual(
      statuses.filter((status) => status !== 200 && status !== 0),
      [],
    )
    assert.ok(statuses.length >= 10)
    assert.ok(cut < statuses.length / 10, `${cut} of ${statuses.length} connections were cut`)
  }

  test('its pods serve, and agents answer through any of them', async () => {
    await untilReady()
    const created = await request('POST', '/api/agents', { name: agent })
    assert.equal(created.status, 200, created.text)
    await noteDown('first')
    for (let count = 0; count < 9; count += 1) assert.equal((await note()).text, 'first\n')
  })

  test('every API pod has the records of the others; after an upgrade the new pods have them', async (t) => {
    const run = await noteDown('second')
    await eventually(
      () => changesOf(run),
      ({ json }) => json?.status === 'recorded',
    )
    for (let count = 0; count < 9; count += 1) {
      const changes = await changesOf(run)
      assert.equal(changes.status, 200, changes.text)
      assert.match(changes.text, /note\.txt/)
    }
    const old = await podsOf()
    const changed = ['--values', values, '--set', 'settings.ROOST_LOG_LEVEL=debug']
    // One pod after the other: without any API process, all sessions would end.
    await serveDuring(t, mustHelm('upgrade', release.name, chart, ...changed, ...complete))
    await untilReady(old)
    assert.deepEqual(await logLevels(), ['debug', 'debug', 'debug'])
    assert.match((await changesOf(run)).text, /note\.txt/)
    const begun = await eventually(
      () => request('POST', `/api/agents/${agent}/history/restores`, { run, when_busy: 'wait' }),
      ({ status }) => status === 202,
    )
    const restored = await eventually(
      () => request('GET', `/api/agents/${agent}/history/restores/${begun.json.id}`),
      ({ json }) => typeof json?.ended_at === 'string',
    )
    assert.equal(restored.json.state, 'restored', restored.text)
    assert.equal((await note()).text, 'first\n')
  })

  test('while one of three pods is killed, requests fail only with its connections', async (t) => {
    // Pods that the restart replaced may still be ending.
    const victim = (await podsOf()).find(isReady)
    assert.ok(victim)
    const killed = cluster.kubectl(
      ...['-n', release.namespace, 'delete', 'pod', victim.metadata.name],
      ...['--force', '--grace-period=0'],
    )
    // The other two pods serve the rest.
    await serveDuring(
      t,
      killed.then(() => untilReady([victim])),
    )
    await noteDown('third')
    assert.equal((await note()).text, 'third\n')
  })

  test('a rollback replaces all pods again, and keeps the data', async (t) => {
    const old = await podsOf()
    await serveDuring(t, mustHelm('rollback', release.name, ...complete))
    await untilReady(old)
    assert.deepEqual(await logLevels(), [null, null, null])
    assert.equal((await note()).text, 'third\n')
    await noteDown('fourth')
    assert.equal((await note()).text, 'fourth\n')
  })

  test('without the release its keys and the history remain', async () => {
    const removed = await helm(['uninstall', release.name, '--namespace', release.namespace], {
      KUBECONFIG: cluster.kubeconfig,
    })
    assert.equal(removed.code, 0, removed.stderr)
    const namespace = `/api/v1/namespaces/${release.namespace}`
    const claim = await cluster.api.request<Claim>('GET', `${namespace}/persistentvolumeclaims/roost-history`)
    assert.ok(claim.spec.volumeName)
    await cluster.api.request('GET', `${namespace}/secrets/roost`)
  })
})
