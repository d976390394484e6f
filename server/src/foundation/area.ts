import type { Loop } from '../background/loops.ts'
import type { Route } from '../http/route.ts'
import type { Clock } from '../kit/clock.ts'
import type { Db } from '../ports/database/port.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Log } from '../ports/log.ts'
import { type Alerts, createAlerts } from './alerts/index.ts'
import {
  type Audit,
  auditRetention,
  auditRoutes,
  createAudit,
  createAuditReads,
  internalAuditRoutes,
} from './audit/index.ts'
import {
  createIdempotency,
  createWorkStates,
  type Idempotency,
  type WorkStates,
} from './idempotency/index.ts'
import { createLeases, type Leases } from './leases/index.ts'
import { createOutbox, type Outbox } from './outbox/index.ts'
import { createRateLimits, type RateLimits } from './rate-limits/index.ts'
import { createReplicas, internalReplicaRoutes, type Replicas, replicaRoutes } from './replicas/index.ts'
import {
  createProviderTest,
  gitApiAddress,
  type Installed,
  openSettings,
  platformSettingRoutes,
  type Settings,
  settingsRoutes,
  type TestProvider,
} from './settings/index.ts'
import { openVault, readKeyHistory, type Vault } from './vault/index.ts'

export type FoundationAreaDeps = {
  db: Db
  clock: Clock
  log: Log
  ephemeral: Ephemeral
  /** Source of the vault's key. */
  key: Parameters<typeof openVault>[0]
  installed: Installed
  /** Base addresses of the model providers, without a trailing slash. */
  providers: Record<'anthropic' | 'google' | 'openai', string>
  gitBaseUrl: string
  /** Public address of the platform. */
  baseUrl: string
  /** Id of this process among the replicas. */
  replicaId: string
}

/** Features that all areas use. */
export type FoundationArea = {
  vault: Vault
  outbox: Outbox
  leases: Leases
  /** The operator queue registers its sink. */
  alerts: Alerts
  limits: RateLimits
  audit: Audit
  settings: Settings
  works: WorkStates
  idempotency: Idempotency
  replicas: Replicas
  /** Public address of the MCP server. */
  mcpUrl(): string
  testProvider: TestProvider
  routes: Route[]
  /** For other processes of the platform on this machine. */
  internalRoutes: Route[]
  loops: Loop[]
  close(): Promise<void>
}

export async function openFoundationArea(deps: FoundationAreaDeps): Promise<FoundationArea> {
  const { db, clock, log, ephemeral, installed, providers, gitBaseUrl, baseUrl } = deps
  const vault = openVault(deps.key, await readKeyHistory(db, openVault(deps.key), clock.now))
  const outbox = createOutbox({ db, ephemeral, log, clock })
  const leases = createLeases({ db, clock })
  const alerts = createAlerts()
  const replicas = createReplicas({ db, clock, leases, alerts, replicaId: deps.replicaId })
  const limits = createRateLimits({ ephemeral, clock })
  const audit = createAudit({ db, clock, log })
  const auditReads = createAuditReads({ db, audit })
  const settings = await openSettings({ db, ephemeral, vault, clock, log, installed })
  const works = createWorkStates()
  const idempotency = createIdempotency({ db, clock, log, workState: works.ask })
  const mcpUrl = () => settings.value('mcp_url') || `${baseUrl}/mcp`
  const addresses = { ...providers, github: gitApiAddress(gitBaseUrl) }
  const testProvider = createProviderTest({ fetch, addresses })

  return {
    vault,
    outbox,
    leases,
    alerts,
    limits,
    audit,
    settings,
    works,
    idempotency,
    replicas,
    mcpUrl,
    testProvider,
    routes: [
      ...settingsRoutes(settings),
      ...platformSettingRoutes({ settings, mcpUrl, testProvider }),
      ...auditRoutes(auditReads),
      ...replicaRoutes(replicas),
    ],
    internalRoutes: [...internalAuditRoutes(auditReads, audit), ...internalReplicaRoutes(replicas)],
    loops: [
      ...settings.loops,
      auditRetention({ audit, clock, log, days: () => settings.value('audit_retention_days') }),
      ...idempotency.loops,
      ...replicas.loops,
    ],
    async close() {
      await replicas.close()
      await settings.close()
      await audit.close()
    },
  }
}
