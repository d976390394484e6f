/** What the Compose files say, without an engine. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { variables } from '../../server/src/config-variables.ts'

const root = resolve(import.meta.dirname, '../..')
type Service = {
  image: string
  user?: string
  profiles?: string[]
  network_mode?: string
  cap_add?: string[]
  restart?: string
  environment?: Record<string, string>
  volumes?: string[]
}
const read = (file: string) =>
  parse(readFileSync(join(root, file), 'utf8'), { merge: true }) as { services: Record<string, Service> }
const files = { 'compose.yaml': 'api', 'compose.scale.yaml': 'api-1' } as const

/** Variables that an operator does not set here, because the image or the file sets the value, or it names a file. */
const fixed = [
  ...[
    'dataDir',
    'installSource',
    'supervised',
    'heartbeatFile',
    'internalSecret',
    'encryptionKey',
    'installId',
    'demo',
  ],
  ...['engineSocket', 'engineFilterSocket', 'tlsCert', 'tlsKey', 'mcpChatTimeoutMs', 'mcpHost'],
  // Only for processes on several machines.
  ...[
    'controlPort',
    'controlUrl',
    'apiUrl',
    'mcpServerUrl',
    'mcpHostNames',
    'upgradeAtStart',
    'lostNodeSeconds',
    'evictionWaitSeconds',
  ],
]

for (const [file, api] of Object.entries(files)) {
  const { services } = read(file)

  test(`${file} starts the version of this source`, () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    const own = Object.values(services).filter(({ image }) => image.includes('ROOST_PLATFORM_IMAGE'))
    assert.ok(own.length >= 4)
    for (const { image } of own) assert.equal(image, `\${ROOST_PLATFORM_IMAGE:-roost-platform:${version}}`)
  })

  test(`${file} passes the API every setting`, () => {
    const passed = Object.keys(services[api]?.environment ?? {})
    const single = ['host', 'internalPortShared', 'drainSeconds']
    const left = [...fixed, ...single]
    for (const [key, { name }] of Object.entries(variables)) {
      // These files run the agents with Docker.
      if (name.startsWith('ROOST_KUBERNETES_')) continue
      if (!left.includes(key)) assert.ok(passed.includes(name), `${name} is missing`)
    }
    const known = Object.values(variables).map(({ name }) => name)
    for (const name of passed) assert.ok(known.includes(name), `${name} is no setting`)
  })

  test(`${file} mounts the engine’s socket only into the filter, and into a service that an operator runs`, () => {
    const holders = Object.entries(services).filter(([, { volumes = [] }]) =>
      volumes.some((volume) => volume.includes('docker.sock')),
    )
    assert.deepEqual(
      holders.map(([service]) => service),
      ['engine-filter', 'backup'],
    )
    const { profiles, restart, network_mode, cap_add } = services.backup ?? {}
    assert.deepEqual(
      { profiles, restart, network_mode, cap_add },
      { profiles: ['backup'], restart: 'no', network_mode: 'none', cap_add: ['SETGID', 'SETUID'] },
    )
  })

  test(`${file} runs the filter, whose socket is open to its group, in the group of the API`, () => {
    const recipe = readFileSync(join(root, 'images/platform/Dockerfile'), 'utf8')
    const group = /^USER \d+:(\d+)$/m.exec(recipe)?.[1]
    assert.equal(services[api]?.user, undefined)
    assert.equal(services['engine-filter']?.user, `0:${group}`)
  })

  test(`${file} backs up with this version, from the same data and database`, () => {
    const { image, environment = {}, volumes = [] } = services.backup ?? {}
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    assert.equal(image, `\${ROOST_BACKUP_IMAGE:-roost-backup:${version}}`)
    for (const name of ['ROOST_DATABASE_URL', 'ROOST_UPGRADE_BACKUP', 'ROOST_INSTALL_ID_FILE'])
      assert.equal(environment[name], services[api]?.environment?.[name], name)
    assert.ok(volumes.includes('data:/data') && volumes.includes('engine:/run/roost:ro'))
    // Nothing of the host but the socket and what the operator names.
    const fromHost = volumes.filter((volume) => !/^(data|engine|postgres-socket|backup-cache):/.test(volume))
    assert.deepEqual(
      fromHost.map((volume) => /^\$\{(\w+):-/.exec(volume)?.[1]),
      ['ROOST_ENGINE_SOCKET', 'ROOST_BACKUP_FOLDER', 'ROOST_BACKUP_SSH_FOLDER'],
    )
  })
}

test('PostgreSQL of compose.scale.yaml has the version of the programs in the backup image', () => {
  const server = /postgres:(\d+)\./.exec(read('compose.scale.yaml').services.postgres?.image ?? '')?.[1]
  const recipe = readFileSync(join(root, 'images/backup/platform.Dockerfile'), 'utf8')
  assert.equal(server, /postgresql-client-(\d+)/.exec(recipe)?.[1])
})
