/** The chart rendered by Helm, without a cluster. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { writeChart } from '../../cli/src/release/contents.ts'
import { variables } from '../../server/src/config-variables.ts'
import { busyLabel } from '../../server/src/ports/containers/kubernetes/record.ts'
import { cacheFolder, chart, helm, type KubeObject, podOf, render, renderText, root, skip } from './helm.ts'
import { schemaProblems } from './schemas.ts'
import { valueSets } from './value-sets.ts'

/** Variables with a secret, which `settings` refuses because it is plain text. */
const secretVariables = [
  ...['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GITHUB_PAT', 'OPENAI_API_KEY', 'ROOST_MAIL_URL'],
]
/** Variables that the chart sets itself, and those without a meaning in a cluster. */
const ownVariables: RegExp[] = [
  /^ROOST_(DATA_DIR|DATABASE_URL|REDIS_URL|BASE_URL|HOST|PORT|TLS_CERT|TLS_KEY|TRUSTED_PROXIES)$/,
  /^ROOST_(INTERNAL_PORT|INTERNAL_PORT_SHARED|DRAIN_SECONDS|INTERNAL_HOST|AGENT_ADDRESSES|CONTROL_PORT|CONTROL_URL|API_URL)$/,
  /^ROOST_(MCP_PORT|MCP_HOST|MCP_HOST_NAMES|MCP_SERVER_URL|ENCRYPTION_KEY|INTERNAL_SECRET|INTERNAL_SECRET_FILE|METRICS_TOKEN)$/,
  /^ROOST_(CONTAINERS_URL|AGENT_IMAGE|INSTALL_ID|INSTALL_ID_FILE|INSTALL_SOURCE|UPGRADE_AT_START|UPGRADE_BACKUP)$/,
  /^ROOST_(ENGINE_SOCKET|ENGINE_FILTER_SOCKET|HEARTBEAT_FILE|SUPERVISED|DEMO|SSH_BIND)$/,
  /^ROOST_KUBERNETES_/,
]
const knownVariables = Object.values(variables).map(({ name }) => name)

describe('the chart', { skip }, () => {
  const rendered = new Map<string, KubeObject[]>()
  const all = () => [...rendered].flatMap(([set, objects]) => objects.map((object) => ({ set, object })))
  const containers = () =>
    all().flatMap(({ set, object }) => {
      const pod = podOf(object)
      const where = `${set}: ${object.kind} ${object.metadata.name}`
      return pod
        ? pod.spec.containers.map((container: KubeObject) => ({ where, object, pod, container }))
        : []
    })
  const find = (set: string, kind: string, name: string): KubeObject =>
    rendered.get(set)?.find((object) => object.kind === kind && object.metadata.name === name) ??
    assert.fail(`${set}: no ${kind} ${name}`)

  before(async () => {
    for (const [set, values] of Object.entries(valueSets)) rendered.set(set, await render(values))
  })

  test('Helm finds no fault in it, with any of the value sets', async () => {
    assert.equal(rendered.size, 10)
    const { code, stdout, stderr } = await helm(['lint', '--strict', chart])
    assert.equal(code, 0, stdout + stderr)
  })

  test('it has the version of this source', async () => {
    const version = await readVersion()
    const own = parse(await readFile(join(chart, 'Chart.yaml'), 'utf8')) as Record<string, string>
    assert.deepEqual([own.version, own.appVersion], [version, version])
  })

  test('every object has the schema of a current Kubernetes, without unknown fields', async () => {
    // The operator's own kind has no schema there.
    const objects = all().map(({ object }) => object)
    assert.deepEqual(await schemaProblems(objects.filter(({ kind }) => kind !== 'ServiceMonitor')), [])
  })

  test('the check of schemas refuses an unknown field, a wrong type and a missing field', async () => {
    const changed = (change: (object: KubeObject) => void) => {
      const object = structuredClone(find('a trial without settings', 'Deployment', 'roost-api'))
      change(object)
      return schemaProblems([object])
    }
    assert.match(
      String(await changed(({ spec }) => (spec.template.spec.containers[0].livenessProb = {}))),
      /livenessProb/,
    )
    assert.match(
      String(await changed(({ spec }) => (spec.template.spec.containers[0].imagePullPolicy = 5))),
      /imagePullPolicy/,
    )
    assert.match(String(await changed(({ spec }) => delete spec.selector)), /selector/)
  })

  test('kinds of an earlier Kubernetes are used where it has no later ones', async () => {
    const values = { api: { autoscaling: { enabled: true } } }
    const versions = async (kubeVersion: string) =>
      new Set((await render(values, { kubeVersion })).map(({ apiVersion }) => apiVersion))
    const [old, current] = [await versions('1.20.2'), await versions('1.35.0')]
    assert.deepEqual([...old].filter((each) => each.includes('beta')).sort(), [
      'autoscaling/v2beta2',
      'policy/v1beta1',
    ])
    assert.deepEqual(
      [...current].filter((each) => each.includes('beta')),
      [],
    )
    assert.match((await renderText({}, { kubeVersion: '1.19.0' })).stderr, /incompatible with Kubernetes/)
  })

  test('invalid values are refused by the name of their field', async () => {
    const refusals: [object, RegExp][] = [
      [{ api: { replicas: 'many' } }, /'\/api\/replicas': got string, want integer/],
      [{ replicas: 2 }, /additional properties 'replicas' not allowed/],
      [{ baseUrl: 'roost.example.com' }, /'\/baseUrl': .* does not match pattern/],
      [{ images: { platform: { digest: 'sha256:abc' } } }, /'\/images\/platform\/digest'/],
      [{ bundledPostgres: { enabled: false } }, /'\/database\/url': minLength/],
      [{ bundledRedis: { enabled: false } }, /'\/redis\/url': minLength/],
      [{ ingress: { enabled: true } }, /'\/ingress\/host': minLength/],
      [{ settings: { ANTHROPIC_API_KEY: 'x' } }, /'\/settings'.*ANTHROPIC_API_KEY/s],
      [{ settings: { ROOST_QUEUE_DEPTH: 5 } }, /'\/settings\/ROOST_QUEUE_DEPTH': got number, want string/],
      [{ settings: { ROOST_HOST: '0.0.0.0' } }, /'\/settings'.*ROOST_HOST/s],
      [{ agents: { podLabels: { team: 'a,b' } } }, /'\/agents\/podLabels\/team'/],
      [{ agents: { requests: { cpu: 'lots' } } }, /'\/agents\/requests\/cpu'/],
      [{ networkPolicies: { publicFrom: [{}] } }, /'\/networkPolicies\/publicFrom\/0'/],
      [
        { agents: { namespace: 'platform' } },
        /agents\.namespace must differ from the namespace of the release/,
      ],
    ]
    for (const [values, message] of refusals) {
      const { code, stderr } = await renderText(values)
      assert.notEqual(code, 0, JSON.stringify(values))
      assert.match(stderr, message, JSON.stringify(values))
    }
  })

  test('every default is valid, and every field has a description', async () => {
    const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8'))
    const values = parse(await readFile(join(chart, 'values.yaml'), 'utf8'))
    const compare = (fields: KubeObject, defaults: KubeObject, path: string) => {
      for (const [name, field] of Object.entries<KubeObject>(fields.properties ?? {})) {
        if (path === '' && name === 'global') continue
        // A variable of the configuration.
        if (/^[A-Z][A-Z0-9_]+$/.test(name)) continue
        assert.ok(field.description, `${path}.${name} has no description`)
        assert.ok(defaults && name in defaults, `${path}.${name} has no default`)
        compare(field, defaults[name], `${path}.${name}`)
      }
    }
    compare(schema, values, '')
  })

  test('the configuration knows every variable of the pods', () => {
    // The settings of the cluster belong to an adapter that this version may lack.
    const hasAdapter = knownVariables.some((name) => name.startsWith('ROOST_KUBERNETES_'))
    const isAwaited = (name: string) => !hasAdapter && name.startsWith('ROOST_KUBERNETES_')
    const foreign = /^(POSTGRES_(USER|PASSWORD|DB)|PGDATA|REDIS_PASSWORD|NODE_EXTRA_CA_CERTS)$/
    const names = new Set<string>(
      containers().flatMap(({ container }) =>
        (container.env ?? []).map(({ name }: KubeObject & { name: string }) => name),
      ),
    )
    assert.ok(names.size > 30)
    for (const name of names)
      assert.ok(
        knownVariables.includes(name) || foreign.test(name) || isAwaited(name),
        `${name} is no setting`,
      )
  })

  test('maps, lists and tolerations have the form of the configuration', () => {
    const settingOf = (name: string) => {
      const set = 'agents on nodes of their own with shared folders and a quota'
      const { env } = find(set, 'Deployment', 'roost-api').spec.template.spec.containers[0]
      return env.find((each: { name: string }) => each.name === `ROOST_KUBERNETES_${name}`)?.value
    }
    assert.equal(settingOf('NODE_SELECTOR'), 'role=agents')
    assert.equal(settingOf('TOLERATIONS'), 'agents:NoSchedule,team=a')
    assert.equal(settingOf('CLOSED_NETWORKS'), '11.0.0.0/8,2600:1f00::/24')
    assert.equal(settingOf('DISK_LIMIT'), '0')
    assert.equal(settingOf('POD_LABELS'), "team=o'brien")
    assert.equal(settingOf('POD_ANNOTATIONS'), 'note=a "quoted" text')
    assert.equal(
      settingOf('PLATFORM_PODS'),
      'app.kubernetes.io/component=api,app.kubernetes.io/instance=roost,app.kubernetes.io/name=roost',
    )
  })

  test('all API pods share one volume for records, or each has little space for its own', async () => {
    const partsOf = (api: KubeObject) => {
      const { containers: pods, volumes } = api.spec.template.spec
      const { env, volumeMounts } = pods[0]
      return {
        limit: env.find(({ name }: KubeObject & { name: string }) => name === 'ROOST_HISTORY_BYTES')?.value,
        claim: volumes.find(({ name }: { name: string }) => name === 'history')?.persistentVolumeClaim
          .claimName,
        path: volumeMounts.find(({ name }: { name: string }) => name === 'history')?.mountPath,
      }
    }
    const shared = 'agents on nodes of their own with shared folders and a quota'
    const mounted = { limit: undefined, claim: 'roost-history', path: '/data/history' }
    assert.deepEqual(partsOf(find(shared, 'Deployment', 'roost-api')), mounted)
    const { metadata, spec } = find(shared, 'PersistentVolumeClaim', 'roost-history')
    assert.equal(metadata.annotations?.['helm.sh/resource-policy'], 'keep')
    assert.deepEqual([spec.accessModes, spec.storageClassName], [['ReadWriteMany'], 'nfs'])
    const own = partsOf(find('a trial without settings', 'Deployment', 'roost-api'))
    assert.deepEqual(own, { limit: '1g', claim: undefined, path: undefined })

    const objects = await render({
      history: { existingClaim: 'records' },
      settings: { ROOST_HISTORY_BYTES: '5g' },
    })
    const api = objects.find(({ kind, metadata: { name } }) => kind === 'Deployment' && name === 'roost-api')
    assert.deepEqual(partsOf(api ?? assert.fail()), { limit: '5g', claim: 'records', path: '/data/history' })
    assert.ok(!objects.some(({ metadata: { name } }) => name === 'roost-history'))
  })

  test('programs that connect to servers of the operator trust private certificate authorities', () => {
    const withAuthorities = 'servers of the operator, with addresses as values'
    const [migrations] = (rendered.get(withAuthorities) ?? []).filter(({ kind }) => kind === 'Job')
    for (const object of [
      find(withAuthorities, 'Deployment', 'roost-api'),
      find(withAuthorities, 'Deployment', 'roost-scheduler'),
      migrations ?? assert.fail('no job'),
    ]) {
      const { containers: programs, volumes } = object.spec.template.spec
      const { env, volumeMounts } = programs[0]
      const named = (list: { name: string }[], name: string) => list.find((each) => each.name === name)
      assert.deepEqual(named(env, 'NODE_EXTRA_CA_CERTS'), {
        ...{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/roost/ca.crt' },
      })
      assert.deepEqual(named(volumeMounts, 'authorities'), {
        ...{ name: 'authorities', mountPath: '/etc/roost', readOnly: true },
      })
      assert.deepEqual(named(volumes, 'authorities'), {
        name: 'authorities',
        configMap: { name: 'authorities', items: [{ key: 'bundle.pem', path: 'ca.crt' }] },
      })
    }
    const trial = rendered.get('a trial without settings') ?? []
    assert.doesNotMatch(JSON.stringify(trial), /NODE_EXTRA_CA_CERTS|authorities/)
  })

  test('a deployment that waits for migrations has not failed', () => {
    for (const name of ['roost-api', 'roost-scheduler']) {
      const { progressDeadlineSeconds, template } = find('a trial without settings', 'Deployment', name).spec
      const { periodSeconds, failureThreshold } = template.spec.containers[0].startupProbe
      assert.ok(progressDeadlineSeconds > periodSeconds * failureThreshold, name)
    }
  })

  test('every other variable can be set, and those with a secret only in a Secret', async () => {
    const { properties } = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8'))
    const isOwn = (name: string) => ownVariables.some((each) => each.test(name))
    const settable = knownVariables.filter((name) => !isOwn(name) && !secretVariables.includes(name))
    assert.deepEqual(Object.keys(properties.settings.properties).toSorted(), settable.toSorted())
    assert.deepEqual(
      Object.keys(properties.secretSettings.properties.values.properties).toSorted(),
      secretVariables,
    )
  })

  test('no secret is outside of a Secret', async () => {
    const marks = ['mark-of-database', 'mark-of-redis', 'mark-of-provider', 'mark-of-mail']
    const objects = await render({
      bundledPostgres: { enabled: false },
      bundledRedis: { enabled: false },
      database: { url: `postgres://roost:${marks[0]}@db/roost` },
      redis: { url: `redis://:${marks[1]}@cache:6379/0` },
      secretSettings: {
        values: { ANTHROPIC_API_KEY: marks[2], ROOST_MAIL_URL: `smtp://u:${marks[3]}@mail` },
      },
    })
    for (const mark of marks) {
      const holders = objects.filter((object) => JSON.stringify(object).includes(mark))
      assert.deepEqual(
        holders.map(({ kind }) => kind),
        ['Secret'],
        mark,
      )
    }
    const trial = rendered.get('a trial without settings') ?? []
    const { data } = find('a trial without settings', 'Secret', 'roost')
    for (const [key, value] of Object.entries<string>(data)) {
      for (const text of [value, Buffer.from(value, 'base64').toString()])
        assert.equal(trial.filter((object) => JSON.stringify(object).includes(text)).length <= 1, true, key)
    }
    assert.deepEqual(
      all().filter(({ object }) => object.kind === 'ConfigMap'),
      [],
    )
  })

  test('the installation’s secrets are strong, differ between installations, and stay when it is removed', async () => {
    const secretOf = (objects: KubeObject[]) => objects.find(({ kind }) => kind === 'Secret') ?? assert.fail()
    const [one, other] = [secretOf(await render({})), secretOf(await render({}))]
    assert.equal(one.metadata.annotations?.['helm.sh/resource-policy'], 'keep')
    const forms: Record<string, RegExp> = {
      'encryption-key': /^[0-9a-f]{64}$/,
      'install-id': /^[A-Za-z0-9]{22}$/,
      'internal-secret': /^[A-Za-z0-9]{48}$/,
      'metrics-token': /^[A-Za-z0-9]{48}$/,
      'postgres-password': /^[A-Za-z0-9]{32}$/,
      'redis-password': /^[A-Za-z0-9]{32}$/,
    }
    assert.deepEqual(Object.keys(one.data).sort(), Object.keys(forms).sort())
    for (const [key, form] of Object.entries(forms)) {
      assert.match(Buffer.from(one.data[key], 'base64').toString(), form, key)
      assert.notEqual(one.data[key], other.data[key], key)
    }
  })

  test('only programs that need a secret get it', () => {
    const set = 'a trial without settings'
    const keysOf = (kind: string, name: string) =>
      find(set, kind, name)
        .spec.template.spec.containers.flatMap(({ env }: KubeObject) => env)
        .map(({ valueFrom }: KubeObject) => valueFrom?.secretKeyRef.key)
        .filter((key: string | undefined) => key !== undefined)
        .sort()
    assert.deepEqual(keysOf('Deployment', 'roost-api'), [
      ...['encryption-key', 'internal-secret', 'metrics-token', 'postgres-password', 'redis-password'],
    ])
    assert.deepEqual(keysOf('Deployment', 'roost-scheduler'), ['internal-secret', 'postgres-password'])
    assert.deepEqual(keysOf('Deployment', 'roost-mcp'), ['internal-secret'])
    const job = rendered.get(set)?.find(({ kind }) => kind === 'Job') ?? assert.fail('no job')
    assert.deepEqual(keysOf('Job', job.metadata.name), ['encryption-key', 'postgres-password'])
  })

  test('every container has probes, resources and a restricted security context', () => {
    assert.ok(containers().length >= 50)
    for (const { where, object, pod, container } of containers()) {
      const { spec } = pod
      assert.equal(spec.securityContext.runAsNonRoot, true, where)
      assert.ok(spec.securityContext.runAsUser > 0, where)
      assert.deepEqual(spec.securityContext.seccompProfile, { type: 'RuntimeDefault' }, where)
      assert.deepEqual(
        container.securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        where,
      )
      assert.ok(container.resources.requests.cpu && container.resources.requests.memory, where)
      assert.ok(container.resources.limits.memory, where)
      for (const field of ['hostNetwork', 'hostPID', 'hostIPC']) assert.equal(spec[field], undefined, where)
      const kinds = (spec.volumes ?? []).map((volume: object) =>
        Object.keys(volume).find((key) => key !== 'name'),
      )
      for (const kind of kinds)
        assert.ok(
          ['emptyDir', 'secret', 'configMap', 'persistentVolumeClaim'].includes(kind),
          `${where}: ${kind}`,
        )
      if (object.kind === 'Job') continue
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
        assert.ok(container[probe], `${where}: ${probe}`)
    }
  })

  test('only the API has a token for Kubernetes, with the least rights', () => {
    for (const { where, object, pod } of containers()) {
      const { automountServiceAccountToken, serviceAccountName } = pod.spec
      const isApi = object.metadata.name === 'roost-api'
      assert.equal(automountServiceAccountToken ?? true, isApi, where)
      assert.equal(serviceAccountName, isApi ? 'roost-api' : undefined, where)
    }
    const trial = 'a trial without settings'
    const rules = (kind: string, name: string) =>
      find(trial, kind, name).rules.flatMap(({ resources, verbs }: KubeObject) =>
        resources.map((resource: string) => `${resource}: ${verbs.join(' ')}`),
      )
    assert.equal(find(trial, 'Role', 'roost-agents').metadata.namespace, 'platform-agents')
    assert.deepEqual(rules('Role', 'roost-agents'), [
      'pods: create delete get list patch watch',
      'pods/log: get',
      'secrets: create delete get list patch watch',
      'persistentvolumeclaims: create delete get list patch watch',
      'networkpolicies: create update',
      'namespaces: get',
    ])
    assert.deepEqual(rules('ClusterRole', 'platform-roost'), ['nodes: list', 'runtimeclasses: list'])
    const limited = rendered.get('no rights outside of the namespaces') ?? []
    const outside = ['ClusterRole', 'ClusterRoleBinding', 'Namespace']
    assert.deepEqual(
      limited.filter(({ kind }) => outside.includes(kind)),
      [],
    )
  })

  test('one budget protects the pods of busy agents, with every set of values', () => {
    for (const [set, objects] of rendered) {
      const { metadata, spec } = find(set, 'PodDisruptionBudget', 'roost-agents')
      const role = objects.find(({ kind }) => kind === 'Role')
      assert.equal(metadata.namespace, role?.metadata.namespace, set)
      assert.deepEqual(spec.selector, { matchLabels: { [busyLabel]: 'true' } })
      // Of the pods that it selects, never fewer than all may run.
      assert.equal(spec.minAvailable, 2 ** 31 - 1)
    }
  })

  test('digests win over tags, for the platform and for agents', async () => {
    const images = (set: string) => [
      ...new Set(
        containers()
          .filter(({ where }) => where.startsWith(`${set}:`))
          .flatMap(({ container }) => [
            container.image,
            ...(container.env ?? [])
              .filter(({ name }: { name: string }) => name === 'ROOST_AGENT_IMAGE')
              .map(({ value }: { value: string }) => value),
          ]),
      ),
    ]
    const own = (image: string) => /roost|agent/.test(image)
    const byDigest = images('a private registry and images by digest').filter(own)
    assert.equal(byDigest.length, 3)
    for (const image of byDigest)
      assert.match(image, /^registry\.example\.com:5000\/(roost\/)?[a-z-]+@sha256:[0-9a-f]{64}$/)
    const version = await readVersion()
    assert.deepEqual(images('a trial without settings').filter(own).sort(), [
      `roost-agent:{runtime}-${version}`,
      `roost-backup:${version}`,
      `roost-platform:${version}`,
    ])
  })

  test('services and policies select pods and ports that exist', () => {
    for (const [set, objects] of rendered) {
      const pods = objects.flatMap((object) => podOf(object) ?? [])
      const selected = (labels: Record<string, string>) =>
        pods.filter(({ metadata }) =>
          Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value),
        )
      const portsOf = (found: ReturnType<typeof selected>) =>
        found.flatMap(({ spec }) =>
          spec.containers.flatMap(({ ports = [] }: KubeObject) =>
            ports.map(({ name }: { name: string }) => name),
          ),
        )
      for (const { kind, metadata, spec } of objects) {
        const where = `${set}: ${kind} ${metadata.name}`
        if (kind === 'Service') {
          assert.ok(selected(spec.selector).length > 0, where)
          for (const { targetPort } of spec.ports)
            assert.ok(portsOf(selected(spec.selector)).includes(targetPort), where)
        }
        if (kind === 'PodDisruptionBudget' && metadata.name !== 'roost-agents')
          assert.equal(selected(spec.selector.matchLabels).length, 1, where)
        if (kind !== 'NetworkPolicy') continue
        const own = selected(spec.podSelector.matchLabels)
        assert.ok(own.length > 0, where)
        for (const { ports = [], from = [] } of spec.ingress ?? []) {
          for (const { port } of ports) assert.ok(portsOf(own).includes(port), `${where}: ${port}`)
          for (const { podSelector } of from)
            if (podSelector) assert.ok(selected(podSelector.matchLabels).length > 0, where)
        }
      }
      const ingress = objects.find(({ kind }) => kind === 'Ingress')
      const backend = ingress?.spec.rules[0].http.paths[0].backend.service
      if (backend)
        assert.ok(objects.some(({ kind, metadata }) => kind === 'Service' && metadata.name === backend.name))
    }
  })

  test('the package of a release is a chart that Helm accepts', async () => {
    const folder = await mkdtemp(join(await cacheFolder(), 'package-'))
    try {
      const id = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
      const path = join(folder, 'roost-chart.tgz')
      await writeChart(root, { id, epoch: 0, subject: '' }, path)
      const objects = await render({}, { path })
      assert.ok(objects.some(({ kind }) => kind === 'Deployment'))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('a migration that fails is repeated, and a rollback never', async () => {
    const retries = async (values: object) =>
      (await render(values)).find(({ kind }) => kind === 'Job')?.spec.backoffLimit
    assert.equal(await retries({}), 6)
    assert.equal(await retries({ migrations: { command: ['rollback', '--yes'] } }), 0)
  })

  test('each revision and each content has a job of its own', async () => {
    const jobName = async (values: object) =>
      (await render(values)).find(({ kind }) => kind === 'Job')?.metadata.name
    const [plain, again, rollback] = [
      await jobName({}),
      await jobName({}),
      await jobName({ migrations: { command: ['rollback', '--yes'] } }),
    ]
    assert.equal(plain, again)
    assert.notEqual(plain, rollback)
  })
})

async function readVersion(): Promise<string> {
  return (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }).version
}
