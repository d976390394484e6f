import { mkdir, writeFile } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { startLoops } from '../background/loops.ts'
import { startRelay } from '../background/relay.ts'
import { compose } from '../compose.ts'
import { type Config, ConfigError, parseConfig } from '../config.ts'
import { ForeignProcess, joinInstallation } from '../foundation/installation/index.ts'
import { startHeartbeat } from '../foundation/replicas/index.ts'
import { KeyFileError, settleRotation } from '../foundation/vault/index.ts'
import { CannotListen, type ListenAddress, type Listening, listen } from '../http/listen.ts'
import { listenSecure } from '../http/listen-secure.ts'
import { createPlatformServer, type PlatformServer } from '../http/platform.ts'
import { createStoreProbe } from '../http/store-probe.ts'
import { type Clock, systemClock } from '../kit/clock.ts'
import { migrations } from '../migrations/index.ts'
import { opensSecrets, sealedColumns } from '../operations/key-rotation/index.ts'
import { UpgradeError } from '../operations/upgrades/index.ts'
import type { HostAddress } from '../ports/containers/port.ts'
import { runningState } from '../ports/database/migrator.ts'
import { SchemaError } from '../ports/database/port.ts'
import { watchEventLoop } from '../ports/event-loop.ts'
import { createLog, type Log } from '../ports/log.ts'
import { openAdapters } from './adapters.ts'
import { findAgentsNetwork, ownAddresses } from './agents-network.ts'
import { requireContainerRuntime } from './container-runtime.ts'
import { ensureKey, InstallIdError, installId } from './first-start.ts'
import { publishInternalSecret } from './internal-secret.ts'
import { stopInOrder } from './ordered-stop.ts'
import { describeReplica } from './replica.ts'
import { settleEngines } from './settle-engines.ts'
import { exitConfig, fail, sendMessage, stopRequested } from './supervision.ts'
import { readCertificate, tlsFiles, watchCertificate } from './tls.ts'
import { untilUpgraded, upgradeDatabase } from './upgrade-database.ts'

/** Time for open requests and streams to end after the process is asked to stop. */
const drainMs = 5_000

try {
  await runApi()
} catch (error) {
  const final = [ConfigError, ForeignProcess, KeyFileError, SchemaError, UpgradeError]
  if (error instanceof Error && final.some((each) => error instanceof each)) fail(error.message, exitConfig)
  if (error instanceof CannotListen || error instanceof InstallIdError) fail(error.message)
  throw error
}

async function runApi(): Promise<void> {
  const stop = stopRequested()
  const stopping = new AbortController()
  void stop.then(() => stopping.abort())
  const config = parseConfig(process.env)
  const files = tlsFiles(config)
  // Refused before anything is opened or migrated.
  if (files) readCertificate(files, systemClock.now())
  const log = createLog({ level: config.logLevel })
  await mkdir(config.dataDir, { recursive: true })
  ensureKey(config)
  const adapters = await openAdapters(config, log, process.env)
  const { db, ephemeral, containers, clock, meters } = adapters
  watchEventLoop(meters.eventLoopDelay)

  await requireContainerRuntime(config.containerRuntime, containers)
  const progress = (text: string) => sendMessage({ type: 'progress', text })
  if (config.upgradeAtStart) await upgradeDatabase(config, db, { clock, progress })
  else if (!(await untilUpgraded(db, { clock, progress, signal: stopping.signal }))) process.exit(0)
  await settleRotation(db, config)
  await joinInstallation({
    ...{ db, clock, source: config },
    installId: await installId(config.dataDir, config.installIdFile),
    opensSecrets: (vault) => opensSecrets(db, vault, sealedColumns),
  })
  await settleEngines(config, { db, clock, containers, log })
  const network = await findAgentsNetwork({ containers, clock, log })
  const replica = await describeReplica('api', clock)
  const platform = await compose(config, adapters, {
    agentsHost: network.host,
    ownAddresses: () => ownAddresses(network.hostAddress(), config),
    openClosedNetwork: network.openClosedNetwork,
    internalSecret: await publishInternalSecret(config),
    replicaId: replica.id,
  })
  const relay = await startRelay({ outbox: platform.outbox, ephemeral, clock, log })
  let isStopping = false
  const server = createPlatformServer({
    platform,
    log,
    clock,
    trustedProxies: config.trustedProxies,
    internalPort: config.internalPort,
    agentsHosts: () => [network.host(), ...config.agentAddresses.map(({ host }) => host)],
    controlHost: config.controlUrl && new URL(config.controlUrl).hostname,
    mcpUrl: config.mcpServerUrl ?? `http://127.0.0.1:${config.mcpPort}`,
    migrations: () => runningState(db, migrations),
    isStopping: () => isStopping,
    storeProblems: createStoreProbe({
      clock,
      stores: [
        { store: 'database', write: () => platform.leases.take('health-probe', 'health-probe', 1) },
        { store: 'ephemeral', write: () => ephemeral.put('health-probe', '', 60) },
        { store: 'data_directory', write: () => writeFile(join(config.dataDir, '.health-probe'), '') },
      ],
    }),
    pagesFolder: join(import.meta.dirname, '../../../web/dist'),
  })
  await server.ready()

  const internal = createInternalListeners(config, server)
  await internal.open({ type: 'loopback' })
  if (config.internalHost !== null) {
    const isAny = config.internalHost === 'any'
    await internal.open(isAny ? { type: 'any' } : { type: 'tcp', address: config.internalHost })
  }
  await network.open(internal.open)
  const control =
    config.controlPort === null
      ? null
      : await listen({ host: config.host, port: config.controlPort }, server.controlHandler)
  await platform.open()
  const heartbeat = startHeartbeat({ db, clock, log, replica, engineId: platform.engine.known })
  const loops = startLoops({
    loops: platform.loops,
    leases: platform.leases,
    clock,
    log,
    holder: replica.id,
    places: { engine: platform.engine.read, history: adapters.history.id },
  })
  const open = await openPublic(config, server, { clock, log })

  sendMessage({
    type: 'ready',
    url: config.baseUrl,
    docs_url: `${config.baseUrl}/docs`,
    setup_completed: await platform.setupCompleted(),
    containers: containers.kind,
    notices: containers.isolation.weaker,
  })
  log.info({ host: config.host, port: config.port, containers: containers.kind }, 'ready')
  // Node writes the cache only at a normal exit; after a kill the next process would compile everything again.
  flushCompileCache()

  const reason = await stop
  log.info({ why: reason }, 'stopping')
  isStopping = true
  if (config.drainSeconds > 0) await clock.wait(config.drainSeconds * 1000)
  await stopInOrder(
    [
      { name: 'open streams', stop: () => server.endStreams() },
      { name: 'sockets', stop: () => platform.sockets.close() },
      { name: 'public listener', stop: () => open.close(drainMs) },
      { name: 'loops', stop: () => loops.stop() },
      { name: 'platform', stop: () => platform.close() },
      { name: "the agents' network", stop: () => network.close() },
      {
        name: 'internal listener',
        stop: () => internal.close(1_000),
      },
      { name: 'control listener', stop: async () => control?.close(1_000) },
      { name: 'relay', stop: () => relay.stop() },
      { name: 'containers', stop: () => containers.close() },
      { name: 'heartbeat', stop: () => heartbeat.stop() },
      { name: 'workspace history', stop: () => adapters.history.close() },
      { name: 'mail', stop: async () => adapters.mail?.close() },
      { name: 'short-lived data', stop: () => ephemeral.close() },
      { name: 'database', stop: () => db.close() },
    ],
    log,
  )
  process.exit(0)
}

/** HTTPS when the configuration names a certificate. */
async function openPublic(
  config: Config,
  server: PlatformServer,
  deps: { clock: Clock; log: Log },
): Promise<Pick<Listening, 'close'>> {
  const address = { host: config.host, port: config.port }
  const files = tlsFiles(config)
  if (!files) {
    const open = await listen(address, server.publicHandler)
    server.attachSockets(open.server)
    return open
  }
  const certificate = readCertificate(files, deps.clock.now())
  const open = await listenSecure(address, server.publicHandler, { certificate, publicUrl: config.baseUrl })
  for (const each of open.servers) server.attachSockets(each)
  const unwatch = watchCertificate(files, open.setCertificate, deps)
  return {
    close(graceMs) {
      unwatch()
      return open.close(graceMs)
    },
  }
}

/** The internal listener, on every address that it was asked for. */
function createInternalListeners(config: Config, server: PlatformServer) {
  const { internalPort: port, internalPortShared: isShared } = config
  let listening = new Map<string, Listening>()

  async function listenOn(address: ListenAddress): Promise<void> {
    const name = JSON.stringify(address)
    if (listening.has(name)) return
    if ('path' in address) await mkdir(dirname(address.path), { recursive: true })
    const opened = await listen(address, server.internalHandler, { isShared })
    server.attachLinks(opened.server)
    listening.set(name, opened)
  }

  const close = async (graceMs: number) =>
    void (await Promise.all([...listening.values()].map((each) => each.close(graceMs))))
  const all: ListenAddress = { host: null, port }

  return {
    close,
    async open(asked: HostAddress): Promise<void> {
      if (asked.type === 'unix') return listenOn({ path: asked.path })
      // All addresses include the others, and an address has one listener.
      if (listening.has(JSON.stringify(all))) return
      switch (asked.type) {
        case 'loopback':
          return listenOn({ host: '127.0.0.1', port })
        case 'tcp':
          return listenOn({ host: asked.address, port })
        case 'any':
          await close(0)
          listening = new Map()
          return listenOn(all)
      }
    },
  }
}
