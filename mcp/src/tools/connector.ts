import { ApiError } from '@roost/contracts/client'
import { sendChat } from '@roost/contracts/conversations/chat'
import { listPlaybooks, maxPlaybookInput, runPlaybook } from '@roost/contracts/runs/playbooks'
import { z } from 'zod'
import type { ValidKey } from '../keys.ts'
import { queuedTimeout, type Receipt, receiptOf } from '../receipts.ts'
import { Refusal } from '../refusals.ts'
import { type Call, type Tool, tool } from '../tool.ts'
import { withoutLog } from './chat.ts'
import { agentName, idempotent } from './parameters.ts'

const agent = agentName
  .optional()
  .describe('Name of the agent. Left out with a connector key, which belongs to one agent.')

/** The agent of a connector's key is the only one that it can mean. */
function agentOf(given: string | undefined, key: ValidKey): string {
  const name = given ?? (key.scope === 'connector' ? key.agent_name : null)
  if (name === null) throw new Refusal('invalid_parameters', 'agent: is required with this key.')
  return name
}

const target = (given: Record<string, unknown>, key: ValidKey) => given.agent ?? key.agent_name

const later = 'Longer work answers {"status":"queued_timeout","execution_id":…} and goes on.'

export const connectorTools: Tool[] = [
  tool({
    name: 'list_playbooks',
    description: 'The playbooks that you can run on the agent: name, what each does and what its input is.',
    audience: 'connector',
    effect: 'read',
    input: { agent },
    target,
    run: ({ api, key }, given) => api.call(listPlaybooks, { params: { name: agentOf(given.agent, key) } }),
  }),
  tool({
    name: 'run_playbook',
    description: `Run a playbook of list_playbooks on the agent and get its result. ${later}`,
    audience: 'connector',
    effect: 'write',
    input: {
      name: z.string().min(1).describe('Name of the playbook, as list_playbooks gives it.'),
      input: z.string().max(maxPlaybookInput).optional().describe('What it is to work on, in its own words.'),
      agent,
    },
    target,
    run: (call, { name, input, ...given }) => run(call, agentOf(given.agent, call.key), { name, input }),
  }),
  tool({
    name: 'ask',
    description: `Ask the agent something and get its answer; it remembers what was said before. ${later}`,
    audience: 'connector',
    effect: 'write',
    input: { message: z.string().min(1).describe('What you ask, in plain words.'), agent },
    target,
    async run(call, { message, ...given }) {
      const name = agentOf(given.agent, call.key)
      const asked = call.api.call(sendChat, { params: { name }, body: { message }, ...waitingFor(call) })
      return ended(call, name, asked)
    },
  }),
]

async function run(call: Call, agent: string, { name, input }: { name: string; input: string | undefined }) {
  const asked = call.api.call(runPlaybook, {
    params: { name: agent, playbook: name },
    body: { input },
    ...waitingFor(call),
  })
  try {
    return await ended(call, agent, asked)
  } catch (error) {
    if (!(error instanceof ApiError) || error.body?.error !== 'skill_not_found') throw error
    const { playbooks } = await call.api.call(listPlaybooks, { params: { name: agent } })
    const available = playbooks.map((playbook) => playbook.name)
    const message = `There is no playbook "${name}" that you can run on ${agent}.`
    throw new Refusal('playbook_not_exposed', message, { available })
  }
}

function waitingFor(call: Call) {
  const prefer = `wait=${call.waitSeconds}, return=minimal`
  return { headers: { accept: 'application/json', prefer, ...idempotent(call) }, signal: call.signal }
}

async function ended(
  call: Call,
  agent: string,
  asked: Promise<{ status: string; execution_id?: string }>,
): Promise<object> {
  try {
    const reply = await call.waiting(`${agent} is working`, asked)
    return reply.status === 'queued_timeout'
      ? readable(call, queuedTimeout(agent, reply.execution_id))
      : withoutLog(reply)
  } catch (error) {
    return readable(call, receiptOf(error, agent))
  }
}

/** A connector has no tool for results: it is told where the same key reads them. */
function readable({ key }: Call, receipt: Receipt): Receipt {
  if (key.scope !== 'connector' || receipt.execution_id === undefined) return receipt
  const { agent, execution_id } = receipt
  const message = `The agent works on it still, or it waits for its turn. Do not ask again: GET /api/agents/${agent}/executions/${execution_id} with this key has the result once it is there.`
  return { ...receipt, message }
}
