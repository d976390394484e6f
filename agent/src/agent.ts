import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDotenv } from '@roost/contracts/kit/dotenv'
import { forwarderHost } from '@roost/contracts/link/addresses'
import {
  type AgentSettings,
  principalsAbility,
  protocolVersion,
  templateAbility,
} from '@roost/contracts/link/messages'
import type { Run } from '@roost/contracts/link/runs'
import { createCallHandler, settingsOf } from './calls.ts'
import type { Config } from './config.ts'
import { mcpServersIn } from './credentials/servers.ts'
import type { CredentialStore } from './credentials/store.ts'
import { atPlatform, type Near, withOwnTransfer } from './egress/address.ts'
import { createEgressProxy } from './egress/proxy.ts'
import { raiseFence, supersededExit } from './fence.ts'
import type { WorkspaceGit } from './git/git.ts'
import { startBeats } from './heartbeat/beat.ts'
import { createDiskMeter } from './heartbeat/disk.ts'
import { createUseMeter } from './heartbeat/use.ts'
import type { History } from './history/history.ts'
import type { Restores } from './history/restore.ts'
import { createWriters } from './history/writers.ts'
import { type Clock, timestamp } from './kit/clock.ts'
import { isObject } from './kit/json.ts'
import { faultText, type Log } from './kit/log.ts'
import { memoize } from './kit/memoize.ts'
import { createAddresses } from './link/addresses.ts'
import { type Forwarder, patienceMs, startForwarder } from './link/forwarder.ts'
import { createLink } from './link/link.ts'
import { createQueueFile } from './operator-queue/file.ts'
import { watchQueueFile } from './operator-queue/watch.ts'
import { createOwnersFiles } from './principals/owners-files.ts'
import { createPlaces, type TurnPlace } from './principals/places.ts'
import { createSharing } from './principals/sharing.ts'
import { openUids, uidsFile } from './principals/uids.ts'
import { firstStartOf, migrateSpool, migrateState, prepareVolume, volumeOf } from './principals/volume.ts'
import { childEnvironment } from './processes/environment.ts'
import { createIdentities, joinGroups, readIdentityFacts } from './processes/identity.ts'
import { memoryUsedMb } from './processes/memory.ts'
import { readVersion } from './runtimes/open.ts'
import type { Runtime } from './runtimes/port.ts'
import type { Skills } from './skills/skills.ts'
import { createDelivery } from './spool/delivery.ts'
import { openSpool } from './spool/spool.ts'
import type { Terminals } from './terminal/terminals.ts'
import type { Transfers } from './transfer/transfers.ts'
import { startExecution } from './turns/execution.ts'
import { clearLeftovers } from './turns/leftovers.ts'
import { createLivePool } from './turns/live.ts'
import { createUserCount } from './turns/prepare.ts'
import { createRuns } from './turns/runs.ts'
import { createScratches } from './turns/scratch.ts'
import type { Checks } from './workspace/check.ts'
import { readWorkspaceInfo } from './workspace/info.ts'
import { initializeWorkspace, runSetup } from './workspace/initialize.ts'
import { createPacker } from './workspace/pack.ts'
import { createPaths } from './workspace/paths.ts'
import { createPermissions } from './workspace/permissions.ts'
import { runPreCheck } from './workspace/pre-check.ts'
import { hasAuthorizedKeys } from './workspace/ssh-keys.ts'
import { createWriter } from './workspace/write.ts'

export type AgentDeps = {
  config: Config
  variables: Readonly<Record<string, string | undefined>>
  runtime: Runtime
  clock: Clock
  log: Log
  /** A newer container has the workspace. Default: ends the process, without the time that `close` gives to runs. */
  onSuperseded?(): void
  /** Called after nothing has run for `idleDelayMs`. */
  whenIdle?: () => void
}

/** The running program. `close` stops every runtime and closes the link. */
export type Agent = { close(graceMs: number): Promise<void> }

/** Files, terminals and logins are the owner's. Calls that are added later count as changes. */
const mayChangeFiles = (t: string) =>
  /^(fs|credentials|skills|git|exec|ssh|history)\./.test(t) &&
  !/^history\.(scan|page|digest|read|commit|close)$/.test(t) &&
  !/^(fs|credentials|skills)\.(list|stat|status|read|pack|read_pack|export_open|export_read|transfer_close)$/.test(
    t,
  )

/** Delay after the last run, because its next turn may follow immediately. */
const idleDelayMs = 150

/** Wires the parts. The link connects first; everything slow happens later. */
export async function startAgent(deps: AgentDeps): Promise<Agent> {
  const { config, variables, runtime, clock, log, whenIdle = () => {} } = deps
  const { onSuperseded = () => process.exit(supersededExit) } = deps
  const { home } = config
  const owner = await stat(home)
  joinGroups()
  const identities = createIdentities(readIdentityFacts(owner))
  const volume = volumeOf(config.volume)
  await prepareVolume(volume)
  // Before anything is written to the workspace.
  const firstStart = await firstStartOf(volume)
  const fence =
    config.fence &&
    (await raiseFence({
      ...config.fence,
      file: join(volume.program, 'start-number'),
      clock,
      log,
      onSuperseded,
    }))
  migrateSpool(home, volume)
  const startedAt = timestamp(clock)
  let settings: AgentSettings = settingsOf({ agent_name: config.agentName, model: config.runtimeModel })
  const version = readVersion(runtime, variables.PATH ?? '')
  let isInitialized = false
  const initialized = Promise.withResolvers<void>()
  let linked = Promise.withResolvers<void>()
  const closing = new AbortController()
  let cancelRest = () => {}

  const spool = openSpool(join(volume.program, 'spool'), clock)
  const unfinished = spool.all().filter((run) => run.state() !== 'finished')
  const live = createLivePool(clock)
  const users = createUserCount()
  const sharing = createSharing(home, identities, clock)
  const ownersFiles = createOwnersFiles(home, join(volume.program, 'others-wrote'), identities)
  const scratches = createScratches(config.scratch, identities)
  const places = createPlaces({
    home,
    volume,
    identities,
    runtime: config.runtime,
    agentName: config.agentName,
    uids: memoize(() => openUids(uidsFile(volume.program), volume.homes)),
  })
  const permissions = createPermissions(home, join(volume.owner, 'state'), identities)
  const addresses = createAddresses({
    linkUrl: config.linkUrl,
    further: config.linkAddresses,
    file: join(volume.program, 'platform-addresses.json'),
    clock,
    log,
  })
  const egressProxy = createEgressProxy({ folder: volume.certificates, near })
  const paths = await createPaths(home)
  let store: Promise<CredentialStore> | null = null
  const credentialDeps = {
    home,
    ownersFiles,
    owner,
    parts: join(volume.program, 'sealed-parts'),
    digests: join(volume.program, 'mcp-rendered.json'),
    own() {
      const url = mcpUrl()
      return url === null ? null : { url }
    },
    variables() {
      const url = mcpUrl()
      return { AGENT_NAME: config.agentName, ...(url === null ? {} : { ROOST_MCP_URL: url }) }
    },
    clock,
  }
  // Loaded at first use: its dependencies would take a tenth of this program's memory.
  const credentials = () => {
    store ??= import('./credentials/store.ts').then((loaded) => loaded.createCredentialStore(credentialDeps))
    return store
  }

  let loadedSkills: Promise<Skills> | null = null
  const skills = () => {
    loadedSkills ??= import('./skills/skills.ts').then((loaded) =>
      loaded.createSkills({
        paths,
        runtime: config.runtime,
        clock,
        parts: join(volume.program, 'skills'),
        environment: () => environment({}),
      }),
    )
    return loadedSkills
  }

  let loadedTerminals: Promise<Terminals> | null = null
  const terminals = () => {
    loadedTerminals ??= import('./terminal/terminals.ts').then((loaded) =>
      loaded.createTerminals({ home, identities, clock, environment }),
    )
    return loadedTerminals
  }

  let loadedTransfers: Promise<Transfers> | null = null
  const transfers = () => {
    loadedTransfers ??= import('./transfer/transfers.ts').then((loaded) =>
      loaded.createTransfers({ paths, identities, clock }),
    )
    return loadedTransfers
  }

  const writers = createWriters(identities, live.pids)
  let loadedHistory: Promise<History> | null = null
  const history = () => {
    loadedHistory ??= Promise.all([import('./history/history.ts'), import('./history/scan.ts')]).then(
      ([historyModule, scanModule]) => {
        const file = join(volume.program, 'history-index')
        const scanner = scanModule.createScanner({ home, file, identities, clock })
        const mayLogIn = () => hasAuthorizedKeys(volume.ssh)
        return historyModule.createHistory({ scanner, writers, mayLogIn, clock })
      },
    )
    return loadedHistory
  }

  const journal = join(volume.program, 'restore', 'journal')
  let loadedRestores: Promise<Restores> | null = null
  const restores = () => {
    loadedRestores ??= import('./history/restore.ts').then((loaded) =>
      loaded.createRestores({
        home,
        journal,
        index: join(volume.program, 'history-index'),
        identities,
        clock,
        log,
        onRestore: ownersFiles.restored,
        onChanged: sharing.noteOwner,
      }),
    )
    return loadedRestores
  }

  let loadedChecks: Promise<Checks> | null = null
  const checks = () => {
    loadedChecks ??= import('./workspace/check.ts').then((loaded) =>
      loaded.createChecks({ home, identities, clock, environment: () => environment({}), written }),
    )
    return loadedChecks
  }

  let workspaceGit: Promise<WorkspaceGit> | null = null
  const git = () => {
    workspaceGit ??= Promise.all([import('./git/git.ts'), import('./git/run.ts')]).then(
      ([gitModule, runModule]) =>
        gitModule.createWorkspaceGit({
          home,
          isShared: ownersFiles.isShared,
          git: runModule.createRunGit({
            home,
            path: variables.PATH ?? '',
            identities,
            author: config.agentName,
          }),
        }),
    )
    return workspaceGit
  }

  const disk = createDiskMeter({
    home,
    path: variables.PATH ?? '',
    clock,
    log,
    seconds: () => settings.disk_seconds,
  })
  // Right before the link, which it needs as soon as it has an address.
  const forwarder = await openForwarder()
  const link = createLink({
    addresses,
    key: config.agentKey,
    clock,
    log,
    hello: () => ({
      protocol: protocolVersion,
      agent_name: settings.agent_name || config.agentName,
      image_version: config.imageVersion,
      runtime: config.runtime,
      runtime_version: version,
      started_at: startedAt,
      held: runs.held(),
      abilities: [principalsAbility, templateAbility],
    }),
    onUp(answer) {
      // A scan ends with the link that it was started on.
      void loadedHistory?.then((loaded) => loaded.close())
      learnAddresses(answer.platform_addresses)
      // The shape of the answer is fixed by the contracts.
      if (isObject(answer.settings)) applySettings(settingsOf(answer.settings))
      runs.resume(answer.acked ?? {}, answer.drop ?? [])
      queue.report()
      disk.sendAgain()
      linked.resolve()
      linked = Promise.withResolvers()
    },
    async onCall(t, message) {
      // A request before initialization could be deleted as a leftover or overwritten by the template.
      if (/^(fs|credentials|skills|git|history)\./.test(t)) await initialized.promise
      const request = withOwnTransfer(message, near())
      if (!mayChangeFiles(t)) return await onCall(t, request)
      // Somebody else's turn may start in the middle of a long call, and after it.
      sharing.noteOwner()
      return await written(onCall(t, request)).finally(sharing.noteOwner)
    },
    onSignal: (t) => t === 'wake' && runs.claim(),
    onSilent: (target) => forwarder?.cut(target),
  })
  const delivery = createDelivery({
    link,
    clock,
    log,
    onStale: (run) => runs.forget(run.executionId),
  })
  const runs = createRuns({
    link,
    spool,
    clock,
    log,
    settings: () => settings,
    kick: delivery.kick,
    delivered: delivery.settled,
    onIdle,
    start(run, opened, after) {
      const execution = startExecution(withReachableBroker(run), opened, after, {
        runtime,
        home,
        parts: join(volume.program, 'parts'),
        scratches,
        places,
        users,
        sharing,
        ownersFiles,
        mcpUrl,
        identities,
        permissions,
        live,
        link,
        delivery,
        clock,
        log,
        settings: () => settings,
        environment,
        servers: async () => mcpServersIn(await ownersFiles.read('.mcp.json')),
      })
      void written(execution.done)
      return execution
    },
  })
  const queue = watchQueueFile({ file: createQueueFile(paths), link, clock, log })
  /** Replaces the broker's address with the one that this container can reach. */
  function withReachableBroker(run: Run): Run {
    return {
      ...run,
      broker: { ...run.broker, url: atPlatform(run.broker.url, near()) },
    }
  }

  /** In a sandbox the gateway already forwards. Without the address, programs reach one process of the platform. */
  async function openForwarder(): Promise<Forwarder | null> {
    if (config.gateway) return null
    const locate = () => link.target(patienceMs)
    return startForwarder({ host: forwarderHost, port: 0, locate, clock }).catch((fault: unknown) => {
      log.warn('forwarder not started', { reason: faultText(fault) })
      return null
    })
  }

  /** A platform with one address is reached directly. Platforms of the first release do not know the forwarder. */
  function near(): Near {
    if (forwarder && addresses.hasSeveral())
      return { host: forwarder.host, port: forwarder.port, isForwarder: true }
    const { hostname, port } = new URL(config.linkUrl)
    return { host: hostname, port: Number(port) || 80, isForwarder: false }
  }

  function mcpUrl(): string | null {
    const { mcpUrl } = config
    return mcpUrl !== null && near().isForwarder ? atPlatform(mcpUrl, near()) : mcpUrl
  }

  function learnAddresses(named: readonly string[] | undefined) {
    const before = near()
    addresses.learn(named)
    // The entry of the platform's tools is for terminals; turns get theirs when they start.
    if (isInitialized && near().isForwarder !== before.isForwarder) void rewriteFiles()
  }

  const onCall = createCallHandler({
    runs,
    queue,
    paths,
    ssh: volume.ssh,
    hostKeys: volume.hostKeys,
    git,
    credentials,
    writer: createWriter(paths, join(volume.program, 'parts'), clock),
    packer: createPacker(paths, join(volume.program, 'packs'), identities, clock),
    skills,
    terminals,
    transfers,
    history,
    restores,
    applySettings,
    dropSession: live.drop,
    info: async () => ({
      ...(await readWorkspaceInfo(paths)),
      runtime_version: version,
      workspace_initialized: isInitialized,
      first_start_ms: firstStart,
    }),
    checks,
    preCheck: async () =>
      written(runPreCheck({ home, ownersFiles, env: await environment({}), identities, clock, log })),
  })
  const stopBeats = startBeats({
    disk,
    use: createUseMeter({ clock }),
    link,
    clock,
    log,
    memoryMb: memoryUsedMb,
    activities: runs.activities,
    active: runs.active,
    answered: ({ platform_addresses }) => platform_addresses && learnAddresses(platform_addresses),
  })

  function applySettings(next: AgentSettings) {
    const before = JSON.stringify(settings.read_only)
    settings = next
    live.configure({ limit: next.parallel_limit, idleMs: next.chat_idle_seconds * 1000 })
    // A running process keeps the user and the hook it was started with.
    if (JSON.stringify(next.read_only) !== before) live.dropAll()
    runs.claim()
  }

  function onIdle() {
    cancelRest()
    cancelRest = clock.after(idleDelayMs, () => runs.active() === 0 && whenIdle())
  }

  async function environment(over: Record<string, string | null>, place?: TurnPlace) {
    const mayRead = place?.credentials ?? true
    const text = mayRead ? await ownersFiles.read('.env') : null
    const workspace = parseDotenv(text ?? '')
    const egress = await egressProxy.variables(settings.way_out)
    return childEnvironment({
      own: variables,
      workspace,
      egress,
      home: place?.home ?? home,
      temporary: place?.temporary ?? null,
      isRoot: identities.isRoot,
      overrides: over,
    })
  }

  async function renderFiles() {
    await (await credentials()).render()
    const { writeGitignore } = await import('./workspace/gitignore.ts')
    await writeGitignore(home)
  }

  /** Notes work that may write to the workspace. */
  function written<T>(work: Promise<T>): Promise<T> {
    writers.began()
    return work.finally(writers.ended)
  }

  function rewriteFiles(): Promise<void> {
    return written(renderFiles()).catch((fault: unknown) =>
      log.warn('.gitignore or .mcp.json not written', { reason: faultText(fault) }),
    )
  }

  async function untilLinked() {
    while (!link.isUp()) {
      closing.signal.throwIfAborted()
      await linked.promise
    }
  }

  async function prepare() {
    // Before anything else reads the workspace.
    if (existsSync(journal))
      await (await restores())
        .resume()
        .catch((fault: unknown) => log.warn('restore not completed', { reason: faultText(fault) }))
    await clearLeftovers(
      unfinished.map(({ executionId }) => executionId),
      scratches,
      identities,
    ).catch((fault: unknown) => log.warn('leftovers not cleared', { reason: faultText(fault) }))
    await migrateState(home, volume, identities).catch((fault: unknown) =>
      log.warn('sessions not moved', { reason: faultText(fault) }),
    )
    await initializeWorkspace({
      home,
      staging: volume.program,
      identities,
      template: config.template,
      source: { link, untilLinked },
      clock,
      log,
      signal: closing.signal,
    })
    await rewriteFiles()
    isInitialized = true
    initialized.resolve()
    runs.ready()
    onIdle()
    const env = await environment({})
    void written(runSetup({ home, ownersFiles, env, identities, log })).catch((fault: unknown) =>
      log.warn('setup.sh failed', { reason: faultText(fault) }),
    )
  }
  prepare().catch((fault: unknown) => {
    if (!closing.signal.aborted) throw fault
  })

  return {
    async close(graceMs) {
      fence?.close()
      closing.abort()
      linked.resolve()
      stopBeats()
      disk.close()
      queue.close()
      const closeTerminals = async () => (await loadedTerminals)?.closeAll()
      await Promise.all([runs.close(graceMs), live.close(), closeTerminals()])
      link.close()
      forwarder?.close()
    },
  }
}
