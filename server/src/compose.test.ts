import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import { compose } from './compose.ts'
import { parseConfig } from './config.ts'
import { secret } from './kit/secret.ts'
import { migrations } from './migrations/index.ts'
import { migrate } from './ports/database/migrator.ts'
import { silentLog } from './ports/log.ts'
import { openAdapters } from './start/adapters.ts'

const name = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
/** Served by the web layer itself. */
const webLayerRoutes = ['GET /health', 'GET /health/ready', 'GET /health/live', 'GET /api/internal/health']

test('the platform serves exactly the endpoints of the contracts', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-compose-'))
  const config = parseConfig({ ROOST_DATA_DIR: dataDir, ROOST_CONTAINERS_URL: 'fake:' })
  const adapters = await openAdapters(config, silentLog, { PATH: process.env.PATH })
  try {
    await migrate(adapters.db, migrations, { now: adapters.clock.now })
    const platform = await compose(config, adapters, {
      replicaId: 'this-process',
      internalSecret: secret('the-internal-secret-of-this-test'),
      agentsHost: () => '127.0.0.1',
      ownAddresses: () => [],
      openClosedNetwork: adapters.containers.ensureClosedNetwork,
    })
    const served = [...platform.routes, ...platform.internalRoutes].map(({ endpoint }) => name(endpoint))
    await platform.close()
    assert.deepEqual([...served, ...webLayerRoutes].sort(), endpoints.map(name).sort())
    assert.equal(new Set(endpoints.map(({ id }) => id)).size, endpoints.length, 'ids are unique')
  } finally {
    await adapters.db.close()
    await adapters.ephemeral.close()
    await adapters.history.close()
    await adapters.containers.close()
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('every write of the contracts has a name in the audit log', () => {
  const silent = endpoints.filter(
    ({ method, audit, access }) => method !== 'GET' && !audit && access.who !== 'internal',
  )
  // Programs call these every few seconds; their entries would be useless.
  assert.deepEqual(silent.map(({ id }) => id).sort(), ['postHeartbeat', 'validateKey'])
})
