import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import { compose } from './compose.ts'
import { parseConfig } from './config.ts'
import { migrations } from './migrations/index.ts'
import { migrate } from './ports/database/migrator.ts'
import { silentLog } from './ports/log.ts'
import { openAdapters } from './start/adapters.ts'

const name = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
/** Bound by the web layer itself. */
const elsewhere = ['GET /health', 'GET /api/internal/health']

test('every endpoint of the contracts is served, and nothing is served that is not in them', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-compose-'))
  const config = parseConfig({ ROOST_DATA_DIR: dataDir, ROOST_CONTAINERS_URL: 'fake:' })
  const adapters = await openAdapters(config, silentLog, {})
  try {
    await migrate(adapters.db, migrations, { now: adapters.clock.now })
    const platform = await compose(config, adapters, {
      agentsHost: () => '127.0.0.1',
      openClosedNetwork: adapters.containers.ensureClosedNetwork,
    })
    const served = [...platform.routes, ...platform.internalRoutes].map(({ endpoint }) => name(endpoint))
    await platform.close()
    assert.deepEqual([...served, ...elsewhere].sort(), endpoints.map(name).sort())
    assert.equal(new Set(endpoints.map(({ id }) => id)).size, endpoints.length, 'ids are unique')
  } finally {
    await adapters.db.close()
    await adapters.ephemeral.close()
    await adapters.containers.close()
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('every write of the contracts says how the audit log names it', () => {
  const silent = endpoints.filter(
    ({ method, audit, access }) => method !== 'GET' && !audit && access.who !== 'internal',
  )
  // Asked by programs every few seconds: an entry each would tell nothing.
  assert.deepEqual(silent.map(({ id }) => id).sort(), ['postHeartbeat', 'validateKey'])
})
