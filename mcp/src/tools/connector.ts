import { ApiError } from '@roost/contracts/client'
import { sendChat } from '@roost/contracts/conversations/chat'
import type { BodyInputOf } from '@roost/contracts/kit/endpoint'
import { listPlaybooks, runPlaybook } from '@roost/contracts/runs/playbooks'
import type { ValidKey } from '../keys.ts'
import { queuedTimeout, type Receipt, receiptOf } from '../receipts.ts'
import { Refusal } from '../refusals.ts'
import { bodyOf, described, pathOf, request, without } from '../requests.ts'
import { type Call, type Tool, tool } from '../tool.ts'
import { withoutLog } from './chat.ts'
import { agentName, idempotent, reasons } from './parameters.ts'

const agent = agentName
  .optional()
  .describe('Name of the agent. A connector key belongs to one agent and leaves it out.')
const ofConnector = {
  as: { '{name}': 'agent' },
  differs: { '{name}': 'A connector key belongs to one agent and leaves it out.' },
}

/** Returns the named agent, else the agent of a connector key. */
function agentOf(given: string | undefined, key: ValidKey): string {
  const name = given ?? (key.scope === 'connector' ? key.agent_name : null)
  if (name === null) throw new Refusal('invalid_parameters', 'agent: is required with this key.')
  return name
}

const target = (given: Record<string, unknown>, key: ValidKey) => given.agent ?? key.agent_name

const later = 'Longer work returns {"status":"queued_timeout","execution_id":…} and continues.'

export const connectorTools: Tool[] = [
  tool({
    name: 'list_playbooks',
    description: 'The playbooks that you can run on the agent: name, purpose and input of each.',
    audience: 'connector',
    effect: 'read',
    requests: [request(listPlaybooks, ofConnector)],
    input: { agent },
    target,
    run: ({ api, key }, given) => api.call(listPlaybooks, { params: { name: agentOf(given.agent, key) } }),
  }),
  tool({
    name: 'run_playbook',
    description: `Run a playbook of list_playbooks on the agent and get its result. ${later}`,
    audience: 'connector',
    effect: 'write',
    requests: [
      request(runPlaybook, {
        ...ofConnector,
        as: { ...ofConnector.as, '{playbook}': 'name' },
        leftOut: { async_mode: 'The tool waits, and returns a receipt when the wait runs out.' },
      }),
    ],
    input: {
      name: pathOf(runPlaybook).playbook.describe('Name of the playbook, as list_playbooks returns it.'),
      ...described(without(bodyOf(runPlaybook), 'async_mode'), {
        input: 'What the playbook works on, as text.',
        timeout_seconds: 'How long the run may take; at most the timeout of the agent.',
      }),
      agent,
    },
    target,
    run: (call, { name, agent, ...body }) => run(call, agentOf(agent, call.key), name, body),
  }),
  tool({
    name: 'ask',
    description: `Ask the agent something and get its answer; it remembers what was said before. ${later}`,
    audience: 'connector',
    effect: 'write',
    requests: [
      request(sendChat, {
        ...ofConnector,
        leftOut: { model: 'The owner of the agent chooses the model.', files: reasons.files },
      }),
    ],
    input: { message: bodyOf(sendChat).message.describe('Your question, in plain words.'), agent },
    target,
    async run(call, { agent, ...body }) {
      const name = agentOf(agent, call.key)
      return ended(call, name, call.api.call(sendChat, { params: { name }, body, ...waitingFor(call) }))
    },
  }),
]

async function run(call: Call, agent: string, name: string, body: BodyInputOf<typeof runPlaybook>) {
  const pending = call.api.call(runPlaybook, {
    params: { name: agent, playbook: name },
    body,
    ...waitingFor(call),
  })
  try {
    return await ended(call, agent, pending)
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
  pending: Promise<{ status: string; execution_id?: string }>,
): Promise<object> {
  try {
    const reply = await call.waiting(`${agent} is working`, pending)
    return reply.status === 'queued_timeout'
      ? readable(call, queuedTimeout(agent, reply.execution_id))
      : withoutLog(reply)
  } catch (error) {
    return readable(call, receiptOf(error, agent))
  }
}

/** Adds the address of the result for connector keys, which have no tool for results. */
function readable({ key }: Call, receipt: Receipt): Receipt {
  if (key.scope !== 'connector' || receipt.execution_id === undefined) return receipt
  const { agent, execution_id } = receipt
  const message = `The run is queued or still running. Do not send the request again. Read the result with this key: GET /api/agents/${agent}/executions/${execution_id}.`
  return { ...receipt, message }
}
