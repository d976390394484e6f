import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

const Migrations = z
  .object({
    state: z
      .enum(['complete', 'incomplete', 'newer', 'unknown'])
      .describe(
        '`newer`: a later version has migrated further, which is healthy unless it broke compatibility. `unknown`: the database cannot be read.',
      ),
    applied: z.number().int().nullable(),
    expected: z.number().int().nullable(),
    first_pending: z.string().nullable(),
  })
  .describe('Schema migrations: how many of the expected ones are applied, and the first one missing.')

const StoreProblem = z.object({
  store: z.enum(['database', 'ephemeral', 'data_directory']),
  reason: z.string(),
})
export type StoreProblem = z.infer<typeof StoreProblem>

export const Health = z
  .object({
    status: z
      .enum(['healthy', 'degraded', 'unhealthy'])
      .describe('`degraded`: a store cannot be written; see `problems`.'),
    timestamp: Timestamp,
    migrations: Migrations,
    problems: z
      .array(StoreProblem)
      .describe('Stores that cannot be written, as of at most five seconds ago.')
      .optional(),
  })
  .meta({ id: 'Health' })
export type Health = z.infer<typeof Health>

export const getHealth = endpoint({
  id: 'getHealth',
  method: 'GET',
  path: '/health',
  tag: 'Platform',
  summary: 'Health of this process and its database',
  description:
    '200 also while a store cannot be written: `degraded`, with the reason. 503 with the same body while schema migrations are incomplete (`migrations_incomplete`) or the database cannot be read (`store_unavailable`).',
  access: { who: 'none' },
  returns: Health,
  fails: ['migrations_incomplete', 'store_unavailable'],
})

export const getReadiness = endpoint({
  id: 'getReadiness',
  method: 'GET',
  path: '/health/ready',
  tag: 'Platform',
  summary: 'Whether this process can do its work',
  description:
    'For load balancers and monitoring. 503 in the cases of `GET /health`, and while the database or the data directory cannot be written (`store_unavailable`, with `problems`), and while this process is `stopping`.',
  access: { who: 'none' },
  returns: z.object({ status: z.literal('ready'), timestamp: Timestamp }),
  fails: ['migrations_incomplete', 'store_unavailable', 'stopping'],
})

export const getLiveness = endpoint({
  id: 'getLiveness',
  method: 'GET',
  path: '/health/live',
  tag: 'Platform',
  summary: 'Whether this process answers',
  description:
    'For supervisors that restart a process. Reads no store, so a failing database does not cause restarts.',
  access: { who: 'none' },
  returns: z.object({ status: z.literal('alive'), timestamp: Timestamp }),
})

export const getInternalHealth = endpoint({
  id: 'getInternalHealth',
  method: 'GET',
  path: '/api/internal/health',
  tag: 'Internal',
  summary: 'Liveness for processes of the platform',
  access: { who: 'internal' },
  returns: z.object({ status: z.literal('ok') }),
})

export const Version = z
  .object({
    version: z.string(),
    git_commit: z.string().nullable(),
    git_commit_short: z.string(),
    git_branch: z.string(),
    git_commit_subject: z.string(),
    build_date: z.string(),
    install_source: z.string(),
    edition: z.enum(['oss', 'enterprise']),
    enterprise_features: z.array(z.string()),
    platform: z.literal('roost'),
    runtimes: z.array(z.string()),
    components: z.object({ server: z.string(), agent_image: z.string() }),
    voice_enabled: z.boolean(),
  })
  .meta({ id: 'Version' })

export const getVersion = endpoint({
  id: 'getVersion',
  method: 'GET',
  path: '/api/version',
  tag: 'Platform',
  summary: 'The build that is running',
  description: 'Fields read `unknown` when the build carries no metadata.',
  access: { who: 'any', scopes: ['ops'] },
  returns: Version,
})
