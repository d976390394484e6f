import { compose } from '../server/src/compose.ts'
import { parseConfig } from '../server/src/config.ts'
import { createServer } from '../server/src/http/serve.ts'
import { secret } from '../server/src/kit/secret.ts'
import { migrations } from '../server/src/migrations/index.ts'
import { migrate } from '../server/src/ports/database/migrator.ts'
import { silentLog } from '../server/src/ports/log.ts'
import { openAdapters } from '../server/src/start/adapters.ts'

/** The answer of `/metrics` of a whole platform with a data folder of its own. */
export async function realMetrics(dataDir: string): Promise<string> {
  const token = 'the-metrics-token-of-this-check-only'
  const config = parseConfig({
    ROOST_DATA_DIR: dataDir,
    ROOST_CONTAINERS_URL: 'fake:',
    ROOST_METRICS_TOKEN: token,
  })
  const adapters = await openAdapters(config, silentLog, {})
  try {
    await migrate(adapters.db, migrations, { now: adapters.clock.now })
    await adapters.containers.ensureClosedNetwork()
    const platform = await compose(config, adapters, {
      replicaId: 'this-process',
      internalSecret: secret('the-internal-secret-of-this-check'),
      agentsHost: () => '127.0.0.1',
      ownAddresses: () => [],
      openClosedNetwork: adapters.containers.ensureClosedNetwork,
    })
    const app = createServer({
      routes: platform.internalRoutes,
      guard: platform.guard,
      onObserved: platform.observed,
      checkReplies: true,
      log: silentLog,
      trustedProxies: [],
    })
    const get = () =>
      app.inject({ method: 'GET', url: '/metrics', headers: { authorization: `Bearer ${token}` } })
    // The first answer is in the counters of the second one.
    await get()
    const answer = await get()
    await platform.close()
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${answer.body}`)
    return answer.body
  } finally {
    await adapters.db.close()
    await adapters.ephemeral.close()
    await adapters.containers.close()
  }
}
