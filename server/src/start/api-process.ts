import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startLoops } from '../background/loops.ts'
import { startRelay } from '../background/relay.ts'
import { compose } from '../compose.ts'
import { ConfigError, parseConfig } from '../config.ts'
import { KeyFileError } from '../foundation/vault/index.ts'
import { CannotListen, closeServer, type ListenAddress, listen } from '../http/listen.ts'
import { createPlatformServer } from '../http/platform.ts'
import { migrations } from '../migrations/index.ts'
import { migrate, migrationState, NewerSchemaError } from '../ports/database/migrator.ts'
import { createLog } from '../ports/log.ts'
import { openAdapters } from './adapters.ts'
import { stopInOrder } from './ordered-stop.ts'
import { exitConfig, fail, stopRequested, tell } from './supervision.ts'

/** How long open requests and streams may take to end once the process was asked to stop. */
const drainMs = 5_000

try {
  await runApi()
} catch (error) {
  if (error instanceof ConfigError || error instanceof KeyFileError || error instanceof NewerSchemaError) {
    fail(error.message, exitConfig)
  }
  if (error instanceof CannotListen) fail(error.message)
  throw error
}

async function runApi(): Promise<void> {
  const stop = stopRequested()
  const config = parseConfig(process.env)
  const log = createLog({ level: config.logLevel })
  await mkdir(config.dataDir, { recursive: true })
  const adapters = await openAdapters(config, log, process.env)
  const { db, ephemeral, containers, clock } = adapters

  await migrate(db, migrations, { now: clock.now, progress: (text) => tell({ type: 'progress', text }) })
  const network = await containers.ensureNetwork().catch((error: unknown) => {
    log.error({ err: error }, 'the container engine does not answer; agents cannot be reached until it does')
    return null
  })
  const agentsHost = containers.kind === 'docker' ? (network?.platformUrlHost ?? '127.0.0.1') : '127.0.0.1'
  const platform = await compose(config, adapters, { agentsHost })
  const relay = await startRelay({ outbox: platform.outbox, ephemeral, clock, log })
  const server = createPlatformServer({
    platform,
    log,
    clock,
    trustedProxies: config.trustedProxies,
    migrations: () => migrationState(db, migrations),
    pagesFolder: join(import.meta.dirname, '../../../web/dist'),
  })
  await server.ready()

  const internal = await Promise.all(
    internalAddresses(config.internalPort, network?.hostAddress ?? null).map(async (address) => {
      if ('path' in address) await mkdir(dirname(address.path), { recursive: true })
      return server.attachLinks(await listen(address, server.internalHandler))
    }),
  )
  await platform.open()
  const loops = startLoops({ loops: platform.loops, leases: platform.leases, clock, log })
  const address = { host: config.host, port: config.port }
  const http = server.attachSockets(await listen(address, server.publicHandler))

  tell({
    type: 'ready',
    url: config.baseUrl,
    docs_url: `${config.baseUrl}/docs`,
    setup_completed: await platform.setupCompleted(),
    containers: containers.kind,
    notices: containers.isolation.weaker,
  })
  log.info({ host: config.host, port: config.port, containers: containers.kind }, 'ready')

  const why = await stop
  log.info({ why }, 'stopping')
  await stopInOrder(
    [
      { name: 'open streams', stop: () => server.endStreams() },
      { name: 'sockets', stop: () => platform.sockets.close() },
      { name: 'public listener', stop: () => closeServer(http, drainMs) },
      { name: 'loops', stop: () => loops.stop() },
      { name: 'platform', stop: () => platform.close() },
      {
        name: 'internal listener',
        stop: async () => void (await Promise.all(internal.map((each) => closeServer(each, 1_000)))),
      },
      { name: 'relay', stop: () => relay.stop() },
      { name: 'containers', stop: () => containers.close() },
      { name: 'mail', stop: async () => adapters.mail?.close() },
      { name: 'short-lived data', stop: () => ephemeral.close() },
      { name: 'database', stop: () => db.close() },
    ],
    log,
  )
  process.exit(0)
}

/** Loopback always; beside it where the agents' network reaches this machine. */
function internalAddresses(
  port: number,
  agents: { type: string; address?: string; path?: string } | null,
): ListenAddress[] {
  const loopback = { host: '127.0.0.1', port }
  if (agents?.path) return [loopback, { path: agents.path }]
  return agents?.address ? [loopback, { host: agents.address, port }] : [loopback]
}
