import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

/** What a person who helps needs to know about an installation. Nothing that people or agents wrote. */
export const SupportState = z.object({
  version: z.string(),
  containers: z.string().describe('Kind of the container engine.'),
  database: z.enum(['sqlite', 'postgres']),
  migrations: z.array(z.string()).describe('Applied migrations, oldest first.'),
  agents: z.array(
    z.object({
      name: z.string(),
      runtime: z.string(),
      status: z.string(),
      desired: z.string(),
      is_system: z.boolean(),
      is_linked: z.boolean(),
      is_held: z.boolean().describe('It exited too often and waits for a start by a person.'),
      exit_code: z.number().int().nullable(),
      oom_killed: z.boolean(),
      disk_state: z.string(),
      slots: z.number().int(),
      queued: z.number().int(),
      running: z.number().int(),
    }),
  ),
})
export type SupportState = z.output<typeof SupportState>

export const getSupportState = endpoint({
  id: 'getSupportState',
  method: 'GET',
  path: '/api/internal/support',
  summary: 'State for a support bundle',
  description: 'Names and states of agents. No message, setting, credential or file.',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: SupportState,
})
