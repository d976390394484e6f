import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { ContainerSpec } from '../port.ts'
import { specOf } from '../test/harness.ts'
import { type PodInput, podFor } from './pod.ts'
import { type ContainerRecord, dataKey, readRecord, secretFor } from './record.ts'
import { testSettings } from './test/settings.ts'

function recordOf(more: Partial<ContainerSpec> = {}): ContainerRecord {
  const { name: _, ...labels } = { name: '' }
  const secret = secretFor({ ...specOf('image:1', 'stay', more), name: 'agent-ada' }, 'the-id', 'one')
  const metadata = { ...secret.metadata, ...labels, uid: 'uid-1', resourceVersion: '7' }
  const record = readRecord({ metadata })
  assert.ok(record)
  return record
}

function pod(more: Partial<ContainerSpec> = {}, input: Partial<PodInput> = {}) {
  const { spec, metadata } = podFor({
    ...{ record: recordOf(more), name: 'agent-ada-1', install: 'one', settings: testSettings },
    ...{ platformAlias: null, run: '7', start: { number: 9, canMove: false } },
    ...{ hasRun: false, fenceSeconds: 0 },
    ...input,
  })
  const [container] = spec.containers
  assert.ok(container)
  return { spec, metadata, container, prepare: spec.initContainers?.[0] ?? null }
}

test('the pod belongs to the record and carries its id', () => {
  const { metadata } = pod()
  const [owner] = metadata.ownerReferences
  assert.deepEqual(
    [owner?.kind, owner?.name, owner?.uid, owner?.controller],
    ['Secret', 'roost-agent-ada', 'uid-1', true],
  )
  assert.equal(metadata.labels['roost.id'], 'the-id')
  assert.equal(metadata.labels['roost.install'], 'one')
  assert.equal(metadata.labels['roost.network'], 'open')
})

test('a container has the restrictions of an agent', () => {
  const { spec, container } = pod()
  assert.deepEqual(container.securityContext, {
    privileged: false,
    allowPrivilegeEscalation: false,
    capabilities: {
      drop: ['ALL'],
      add: ['NET_BIND_SERVICE', 'SETGID', 'SETUID', 'CHOWN', 'SYS_CHROOT', 'AUDIT_WRITE'],
    },
  })
  assert.deepEqual(spec.securityContext, { seccompProfile: { type: 'RuntimeDefault' } })
  assert.equal(spec.automountServiceAccountToken, false)
  assert.equal(spec.enableServiceLinks, false)
  for (const forbidden of ['hostNetwork', 'hostPID', 'hostIPC', 'serviceAccountName', 'hostPath'])
    assert.ok(!JSON.stringify(spec).includes(forbidden), forbidden)
})

test('full capabilities add those of sudo, and nothing else', () => {
  const { securityContext } = pod({ fullCapabilities: true }).container
  assert.equal(securityContext.allowPrivilegeEscalation, true)
  assert.deepEqual(securityContext.capabilities.add.slice(6), ['DAC_OVERRIDE', 'FOWNER', 'KILL'])
})

test('limits are those of the container, and requests never exceed them', () => {
  const gigabyte = 1024 ** 3
  const table: [number, number, string, string, object][] = [
    [2, gigabyte, '100m', '256Mi', { cpu: '100m', memory: '256Mi' }],
    [0.05, gigabyte, '100m', '2Gi', { cpu: '50m', memory: String(gigabyte) }],
  ]
  for (const [cpus, memoryBytes, cpuRequest, memoryRequest, requests] of table) {
    const settings = { ...testSettings, cpuRequest, memoryRequest }
    const { resources } = pod({ cpus, memoryBytes }, { settings }).container
    assert.deepEqual(resources.requests, requests)
    assert.deepEqual(resources.limits, { cpu: `${cpus * 1000}m`, memory: String(memoryBytes) })
  }
})

test('disk outside of volumes is limited without being reserved', () => {
  const resourcesWith = (diskLimit: string | null) => {
    const settings = { ...testSettings, diskLimit }
    const { spec } = pod({ mounts: [{ type: 'empty', target: '/shared' }] }, { settings })
    return [...(spec.initContainers ?? []), ...spec.containers].map(({ resources }) => resources)
  }
  const limited = resourcesWith('10Gi')
  assert.equal(limited.length, 2)
  for (const { limits, requests } of limited) {
    assert.partialDeepStrictEqual(limits, { 'ephemeral-storage': '10Gi' })
    assert.partialDeepStrictEqual(requests, { 'ephemeral-storage': '0' })
  }
  assert.doesNotMatch(JSON.stringify(resourcesWith(null)), /ephemeral-storage/)
})

test('the environment comes from the Secret and is not in the pod', () => {
  const { spec, container } = pod({ env: { ROOST_AGENT_KEY: 'key-of-ada' } }, { fenceSeconds: 10 })
  const secretKeyRef = { name: 'roost-agent-ada', key: dataKey('the-id', 'ROOST_AGENT_KEY') }
  assert.deepEqual(container.env.slice(-3), [
    { name: 'ROOST_AGENT_KEY', valueFrom: { secretKeyRef } },
    { name: 'ROOST_START_NUMBER', value: '9' },
    { name: 'ROOST_START_WAIT_SECONDS', value: '10' },
  ])
  assert.ok(!JSON.stringify(spec).includes('key-of-ada'))
  const secret = secretFor({ ...specOf('i', 'stay'), env: { A: 'key-of-ada' } }, 'id', 'one')
  assert.ok(!JSON.stringify(secret.metadata).includes('key-of-ada'))
  assert.deepEqual(secret.stringData, { 'A.id': 'key-of-ada' })
  assert.ok(!('immutable' in secret), 'a later Secret with this name must be read')
})

test('a record of 0.1.0 has the names of the variables only in its data', () => {
  const record = recordOf({ env: { ROOST_AGENT_KEY: 'key-of-ada' } })
  const { variables: _, ...spec } = record.spec
  const { container } = pod({}, { record: { ...record, spec } })
  assert.deepEqual(container.envFrom, [{ secretRef: { name: 'roost-agent-ada' } }])
  assert.deepEqual(
    container.env.map(({ name }) => name),
    ['ROOST_START_NUMBER', 'ROOST_START_WAIT_SECONDS'],
  )
})

test('the settings of the operator are in the pod', () => {
  const settings = {
    ...testSettings,
    nodeSelector: { pool: 'agents' },
    tolerations: [{ key: 'agents', operator: 'Exists' as const }],
    priorityClass: 'low',
    imagePullSecrets: ['registry'],
    labels: { team: 'a', 'roost.install': 'forged' },
    annotations: { note: 'b' },
  }
  const { spec, metadata } = pod({ runtime: 'gvisor' }, { settings })
  assert.deepEqual(spec.nodeSelector, { pool: 'agents' })
  assert.deepEqual(
    spec.tolerations.map(({ key, tolerationSeconds }: { key?: string; tolerationSeconds?: number }) => [
      key,
      tolerationSeconds,
    ]),
    [
      ['agents', undefined],
      ['node.kubernetes.io/not-ready', undefined],
      ['node.kubernetes.io/unreachable', undefined],
    ],
  )
  assert.equal(spec.priorityClassName, 'low')
  assert.equal(spec.runtimeClassName, 'gvisor')
  assert.deepEqual(spec.imagePullSecrets, [{ name: 'registry' }])
  assert.equal(metadata.labels['roost.install'], 'one')
  assert.equal((metadata.labels as Record<string, string>).team, 'a')
  assert.equal((metadata.annotations as Record<string, string>).note, 'b')
})

test('a closed container has no name server, only the platform’s name', () => {
  const platformAlias = { ip: '10.1.2.3', host: 'roost.example' }
  const closed = pod({ isClosed: true }, { platformAlias })
  assert.equal(closed.metadata.labels['roost.network'], 'closed')
  assert.equal(closed.spec.dnsPolicy, 'None')
  assert.deepEqual(closed.spec.dnsConfig, { nameservers: ['127.0.0.1'] })
  assert.deepEqual(closed.spec.hostAliases, [{ ip: '10.1.2.3', hostnames: ['roost.example'] }])
  assert.equal(pod({}, { platformAlias }).spec.hostAliases, undefined)
})

test('volumes are claims; those of other agents are read-only and never filled', () => {
  const mounts: ContainerSpec['mounts'] = [
    { type: 'volume', volume: 'own', target: '/home/developer' },
    { type: 'empty', target: '/home/developer/shared-in' },
    { type: 'volume', volume: 'other', target: '/home/developer/shared-in/bob', readOnly: true },
  ]
  const { spec, container, prepare } = pod({ mounts })
  assert.deepEqual(
    container.volumeMounts.map(({ mountPath, readOnly }: { mountPath: string; readOnly?: boolean }) => [
      mountPath,
      readOnly,
    ]),
    [
      ['/tmp', undefined],
      ['/home/developer', false],
      ['/home/developer/shared-in', true],
      ['/home/developer/shared-in/bob', true],
    ],
  )
  assert.deepEqual(
    spec.volumes.flatMap((volume) =>
      'persistentVolumeClaim' in volume ? [volume.persistentVolumeClaim?.claimName] : [],
    ),
    ['own', 'other'],
  )
  assert.deepEqual(prepare?.command.slice(4), [
    ...['fill', '/roost/mount-0', '/home/developer'],
    ...['inside', '/roost/mount-1/bob', 'close', '/roost/mount-1'],
  ])
  assert.deepEqual(
    prepare?.volumeMounts.map(({ name }) => name),
    ['mount-0', 'mount-1'],
  )
})

test('a volume is filled only before the first run', () => {
  const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume: 'own', target: '/home/developer' }]
  assert.ok(pod({ mounts }).prepare)
  assert.equal(pod({ mounts }, { hasRun: true }).prepare, null)
})

test('an interrupted copy starts again, also when some of the files are in place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'roost-prepare-'))
  try {
    const [image, volume] = [join(folder, 'image'), join(folder, 'volume')]
    mkdirSync(join(image, 'bin'), { recursive: true })
    for (const name of ['bin/tool', '.profile', '..odd', 'a file']) writeFileSync(join(image, name), name)
    symlinkSync('missing', join(image, 'link'))
    chmodSync(image, 0o750)
    const unfinished: Record<string, string[]> = {
      'before the first file': [],
      'during the copy': ['.roost-fill/copy/bin/to'],
      'during the move': ['bin/tool', '.profile', '.roost-fill/copy/a file', '.roost-fill/copy/.hidden'],
      'by an earlier version': ['.roost-fill/a file'],
    }
    const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume: 'own', target: '/home/developer' }]
    const [shell = '', ...command] = pod({ mounts }).prepare?.command.slice(0, 4) ?? []
    for (const [title, files] of Object.entries(unfinished)) {
      mkdirSync(join(volume, '.roost-fill'), { recursive: true })
      for (const file of files) {
        mkdirSync(dirname(join(volume, file)), { recursive: true })
        writeFileSync(join(volume, file), 'pa')
      }
      execFileSync(shell, [...command, 'fill', volume, image])
      assert.deepEqual(readdirSync(volume).sort(), ['..odd', '.profile', 'a file', 'bin', 'link'], title)
      assert.equal(readFileSync(join(volume, 'bin', 'tool'), 'utf8'), 'bin/tool', title)
      assert.equal(statSync(volume).mode & 0o777, 0o750, title)
      rmSync(volume, { recursive: true })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a turn cannot make the preparation copy again, or empty another volume', () => {
  const folder = mkdtempSync(join(tmpdir(), 'roost-prepare-'))
  try {
    const [image, workspace, linked, secret] = ['image', 'workspace', 'linked', 'secret'].map((name) =>
      join(folder, name),
    )
    assert.ok(image && workspace && linked && secret)
    for (const path of [image, workspace, linked, secret]) mkdirSync(path)
    writeFileSync(join(image, '.profile'), 'of the image')
    writeFileSync(join(secret, 'key'), 'of another user')
    const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume: 'own', target: '/home/developer' }]
    const [shell = '', ...command] = pod({ mounts }).prepare?.command.slice(0, 4) ?? []

    symlinkSync(secret, join(linked, '.roost-fill'))
    execFileSync(shell, [...command, 'fill', linked, image])
    assert.deepEqual(readdirSync(linked), ['.roost-fill'])
    assert.equal(readFileSync(join(secret, 'key'), 'utf8'), 'of another user')

    const [unreadable, fresh] = [join(folder, 'no image'), join(folder, 'fresh')]
    mkdirSync(fresh)
    mkdirSync(unreadable)
    // Stands for a storage that refuses owners.
    const broken = command.map((text) => text.replace('cp -a "$3/." "$copy/"', 'false'))
    assert.throws(() => execFileSync(shell, [...broken, 'fill', fresh, unreadable], { stdio: 'pipe' }))
    assert.deepEqual(readdirSync(fresh), [], 'the next attempt finds it empty')

    // Only root can give the folder to somebody else.
    if (process.getuid?.() !== 0) return
    mkdirSync(join(workspace, '.roost-fill'))
    chownSync(join(workspace, '.roost-fill'), 1000, 1000)
    writeFileSync(join(workspace, '.profile'), 'of the agent')
    execFileSync(shell, [...command, 'fill', workspace, image])
    assert.equal(readFileSync(join(workspace, '.profile'), 'utf8'), 'of the agent')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the preparation copies the image’s files into an empty volume, and leaves a filled one alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'roost-prepare-'))
  try {
    const [image, fresh, filled, inside] = ['image', 'fresh', 'filled', 'inside'].map((name) =>
      join(folder, name),
    )
    assert.ok(image && fresh && filled && inside)
    for (const path of [image, fresh, filled, inside]) mkdirSync(path)
    mkdirSync(join(fresh, 'lost+found'))
    writeFileSync(join(image, '.profile'), 'x')
    writeFileSync(join(filled, 'note'), 'mine')
    const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume: 'own', target: '/home/developer' }]
    const [shell = '', ...command] = pod({ mounts }).prepare?.command.slice(0, 4) ?? []
    const steps = [
      ...['fill', fresh, image, 'fill', filled, image, 'fill', filled, join(folder, 'not in the image')],
      ...['inside', join(inside, 'bob'), 'close', inside],
    ]
    execFileSync(shell, [...command, ...steps])
    assert.deepEqual(readdirSync(fresh).sort(), ['.profile', 'lost+found'])
    assert.deepEqual(readdirSync(filled), ['note'])
    assert.deepEqual(readdirSync(inside), ['bob'])
    assert.equal(statSync(inside).mode & 0o777, 0o555)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
