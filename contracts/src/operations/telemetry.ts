import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

const tag = 'Operations'
const readers = { who: 'any', scopes: ['ops'] } as const
const filled = z.object({
  percent: z.number(),
  used_gb: z.number().describe('Unit: 1024³ bytes.'),
  total_gb: z.number(),
})

export const HostTelemetry = z.object({
  timestamp: Timestamp.describe('Time of the measurement.'),
  cpu: z.object({
    percent: z.number().describe('Percent of all CPUs together, 0 to 100.'),
    count: z.number().int(),
  }),
  memory: filled,
  disk: filled.describe('The file system that holds the data folder.'),
  load: z.tuple([z.number(), z.number(), z.number()]).describe('Load averages over 1, 5 and 15 minutes.'),
})
export type HostTelemetry = z.output<typeof HostTelemetry>

export const getHostTelemetry = endpoint({
  id: 'getHostTelemetry',
  method: 'GET',
  path: '/api/telemetry/host',
  summary: 'CPU, memory, disk and load of the machine',
  description: 'For the machine that replies; measured in the background every 10 seconds.',
  tag,
  access: readers,
  returns: HostTelemetry,
})

export const ContainersTelemetry = z.object({
  timestamp: Timestamp,
  running_count: z.number().int(),
  total_cpu_percent: z.number().describe('Percent of one CPU: 200 means two busy CPUs.'),
  total_memory_mb: z.number(),
  containers: z.array(
    z.object({
      name: z.string().describe('Name of the agent.'),
      cpu: z.number().describe('Percent of one CPU; 0 with an error.'),
      memory_mb: z.number(),
      error: z.string().optional().describe('Why no values are available.'),
    }),
  ),
  age_seconds: z.number().describe('Age of the oldest values in this reply; 0 without values.'),
  stale: z.boolean().describe('Values are older than three sampling intervals.'),
  no_data: z.boolean().describe('Agents are running, but none has values yet.'),
})
export type ContainersTelemetry = z.output<typeof ContainersTelemetry>

export const getContainersTelemetry = endpoint({
  id: 'getContainersTelemetry',
  method: 'GET',
  path: '/api/telemetry/containers',
  summary: 'CPU and memory of the running agents that the caller can access, busiest first',
  tag,
  access: readers,
  returns: ContainersTelemetry,
})
