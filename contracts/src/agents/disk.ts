import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'

const tag = 'Agent configuration'
const path = '/api/agents/{name}/disk'
const defaultPath = '/api/settings/agent-defaults/disk'
const admin = { who: 'admin' } as const

/** Share of the quota from which an alert warns. */
export const diskWarningShare = 0.8
export const minDiskQuotaBytes = 10_000_000
export const maxDiskQuotaBytes = 1_000_000_000_000_000
export const defaultDiskQuotaBytes = 20 * 1024 ** 3

/** `low`: from 80 % of the quota on. `full`: from 100 % on, writes are refused and runs wait. */
export const diskStates = ['ok', 'low', 'full'] as const
export type DiskState = (typeof diskStates)[number]

const quotaRule = 'must be 0 (unlimited) or 10,000,000 to 1,000,000,000,000,000 bytes'
export const DiskQuota = z
  .number()
  .int()
  .min(0, quotaRule)
  .max(maxDiskQuotaBytes, quotaRule)
  .refine((bytes) => bytes === 0 || bytes >= minDiskQuotaBytes, quotaRule)

/** An agent's disk usage and quota, in bytes. */
const usage = {
  used_bytes: z.number().int().nullable().describe('Workspace and container together; null until measured.'),
  quota_bytes: z.number().int().describe('The quota that applies; 0 means unlimited.'),
  state: z
    .enum(diskStates)
    .describe('`low` from 80 % of the quota on; `full` from 100 % on: writes are refused and runs wait.'),
}
export const DiskUsage = z.object(usage)
export type DiskUsage = z.output<typeof DiskUsage>

export const AgentDisk = z
  .object({
    agent_name: z.string(),
    ...usage,
    workspace_bytes: z
      .number()
      .int()
      .nullable()
      .describe("The agent's volumes: the larger of its own report and the engine's figure."),
    container_bytes: z
      .number()
      .int()
      .nullable()
      .describe("The container's writable layer; null if the engine does not report it."),
    own_quota_bytes: z
      .number()
      .int()
      .nullable()
      .describe("The agent's own quota; null: the installation's default applies."),
    default_quota_bytes: z.number().int().describe("The installation's default; 0 means unlimited."),
    measured_at: Timestamp.nullable().describe('Last measurement that changed the figure by more than 1 %.'),
  })
  .meta({ id: 'AgentDisk' })
export type AgentDisk = z.output<typeof AgentDisk>

export const AgentDiskPatch = z.object({ quota_bytes: DiskQuota.nullable() })
export const DefaultDisk = z.object({ quota_bytes: DiskQuota })

export const getAgentDisk = endpoint({
  id: 'getAgentDisk',
  method: 'GET',
  path,
  summary: 'Disk usage and disk quota of an agent',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentDisk,
  fails: ['agent_not_found'],
})

export const putAgentDisk = endpoint({
  id: 'putAgentDisk',
  method: 'PUT',
  path,
  summary: 'Set the disk quota of an agent',
  description: '0 means unlimited, null applies the default. Takes effect immediately.',
  tag,
  access: { who: 'admin', gate: 'person' },
  params: AgentParams,
  body: AgentDiskPatch,
  returns: AgentDisk,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_disk_quota' },
})

export const getAgentDefaultDisk = endpoint({
  id: 'getAgentDefaultDisk',
  method: 'GET',
  path: defaultPath,
  summary: 'Get the default disk quota of agents',
  tag: 'Settings',
  access: admin,
  returns: DefaultDisk,
})

export const putAgentDefaultDisk = endpoint({
  id: 'putAgentDefaultDisk',
  method: 'PUT',
  path: defaultPath,
  summary: 'Set the default disk quota of agents; 0 means unlimited',
  description: 'Applies within a minute to every agent without a quota of its own.',
  tag: 'Settings',
  access: admin,
  body: DefaultDisk,
  returns: DefaultDisk,
  audit: { type: 'configuration', action: 'put_agent_default_disk' },
})

/** Agents that are close to their quota or have used it up. */
export const DiskReport = z.object({
  agents: z.number().int(),
  measured: z.number().int(),
  low: z.array(z.string()),
  full: z.array(z.string()),
})
export type DiskReport = z.output<typeof DiskReport>

export const getInternalDisk = endpoint({
  id: 'getInternalDisk',
  method: 'GET',
  path: '/api/internal/disk',
  summary: 'Agents close to their disk quota',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: DiskReport,
})
