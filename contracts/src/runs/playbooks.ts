import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'
import { automations } from '../skills/library.ts'
import {
  maxMessageLength,
  QueuedReceipt,
  RunTimeout,
  runFails,
  runHeaders,
  runReplyHeaders,
} from './request.ts'
import { AcceptedTask, CancelledTask, TaskReply } from './tasks.ts'

const tag = 'Playbooks'
const path = '/api/agents/{name}/playbooks'

/** Leaves room for the text that names the playbook. */
export const maxPlaybookInput = maxMessageLength - 1_000
/** Maximum of skills read per workspace, by name. */
export const maxPlaybooks = 200

const text = z.string().nullable()

export const Playbook = z
  .object({
    name: z.string(),
    title: text,
    description: text,
    argument_hint: text.describe("The author's description of the input."),
    automation: z.enum(automations).nullable(),
    allowed_tools: z.array(z.string()).describe('As its author wrote them; not enforced.'),
    exposed: z.boolean().describe('A connector may run it.'),
  })
  .meta({ id: 'Playbook' })
export type Playbook = z.output<typeof Playbook>

export const listPlaybooks = endpoint({
  id: 'listPlaybooks',
  method: 'GET',
  path,
  summary: 'Skills of the workspace that people may run',
  description: 'Read from the running agent. A connector sees only exposed ones.',
  tag,
  access: { who: 'access', scopes: ['connector'] },
  params: AgentParams,
  returns: z.object({ playbooks: z.array(Playbook), count: z.number().int() }),
  fails: ['agent_not_found', 'agent_stopped', 'agent_unresponsive'],
})

export const runPlaybook = endpoint({
  id: 'runPlaybook',
  method: 'POST',
  path: `${path}/{playbook}/run`,
  summary: 'Run a playbook as a task',
  description: 'Replies like a task. A connector gets 404 for a playbook that is not exposed.',
  tag,
  access: { who: 'access', scopes: ['connector'] },
  params: AgentParams.extend({ playbook: z.string() }),
  body: z.object({
    input: z
      .string()
      .max(maxPlaybookInput)
      .nullish()
      .transform((input) => input?.trim() ?? ''),
    async_mode: z
      .boolean()
      .nullish()
      .transform((mode) => mode ?? false),
    timeout_seconds: RunTimeout.nullish().transform((seconds) => seconds ?? null),
  }),
  bodyOptional: true,
  returns: z.union([TaskReply, AcceptedTask, CancelledTask, QueuedReceipt]),
  headers: runHeaders,
  replyHeaders: runReplyHeaders,
  fails: [...runFails, 'skill_not_found', 'agent_unresponsive'],
  audit: { type: 'execution', action: 'run_playbook' },
})
