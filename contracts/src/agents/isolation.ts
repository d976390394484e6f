import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'

/** The OCI runtime of an agent's container, such as gVisor (`runsc`). */

const runtimeName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/
export const Isolation = z.object({
  agent_name: z.string(),
  runtime: z.string().nullable().describe("The agent's own OCI runtime; null: that of the installation."),
  effective_runtime: z
    .string()
    .nullable()
    .describe('The OCI runtime of the next container; null where the engine has none.'),
  current_runtime: z.string().nullable().describe('That of the current container; null without one.'),
  installation_runtime: z
    .string()
    .nullable()
    .describe('`ROOST_CONTAINER_RUNTIME`, or the default of the engine. Agents cannot have a weaker one.'),
  available_runtimes: z
    .array(z.string())
    .describe('Runtimes that the engine lists and that are not weaker than that of the installation.'),
  restart_needed: z.boolean(),
})
export type Isolation = z.output<typeof Isolation>

export const getIsolation = endpoint({
  id: 'getIsolation',
  method: 'GET',
  path: '/api/agents/{name}/isolation',
  tag: 'Agent configuration',
  access: { who: 'access' },
  params: AgentParams,
  summary: 'The OCI runtime of the container',
  returns: Isolation,
  fails: ['agent_not_found'],
})

export const putIsolation = endpoint({
  id: 'putIsolation',
  method: 'PUT',
  path: '/api/agents/{name}/isolation',
  tag: 'Agent configuration',
  access: { who: 'admin' },
  params: AgentParams,
  summary:
    'Set the OCI runtime; null restores that of the installation; applies when the container is recreated',
  /** The key is required: a misspelt one must not clear the runtime. */
  body: z.object({
    runtime: z.string().regex(runtimeName, 'must be the name of an OCI runtime').nullable(),
  }),
  returns: Isolation,
  fails: ['agent_not_found', 'container_engine_error'],
  audit: { type: 'configuration', action: 'set_isolation' },
})
