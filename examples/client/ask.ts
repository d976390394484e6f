/**
 * Sends a question to an agent through the typed client:
 *
 *   ROOST_URL=http://localhost:8000 ROOST_KEY=svc_mcp_… node ask.ts <agent> <question>
 */
import { listAgents } from '@roost/contracts/agents/registry'
import { ApiError, createClient } from '@roost/contracts/client'
import { sendChat } from '@roost/contracts/conversations/chat'
import { getExecution } from '@roost/contracts/runs/executions'
import { runTask } from '@roost/contracts/runs/tasks'

const [name = '', question = ''] = process.argv.slice(2)
const { ROOST_URL = 'http://localhost:8000', ROOST_KEY = null } = process.env
const roost = createClient(ROOST_URL, ROOST_KEY)

try {
  await agents()
  await conversation()
  await task()
} catch (error) {
  // `error.body.error` is the stable name of the error; the message is for people.
  if (!(error instanceof ApiError)) throw error
  console.error(`${error.status} ${error.body?.error ?? ''}: ${error.message}`)
  process.exitCode = 1
}

/** A single call: parameters and response have the types of the endpoint. */
async function agents(): Promise<void> {
  for (const { name, status, runtime } of await roost.call(listAgents, {}))
    console.log(`agent ${name}: ${status}, ${runtime}`)
}

/** A chat turn, streamed line by line; the last line contains the response. */
async function conversation(): Promise<void> {
  const lines = roost.lines(sendChat, { params: { name }, body: { message: question } })
  for await (const line of lines) {
    if (line.type === 'done') console.log(`chat: ${line.response}`)
  }
}

/** A task without memory: starts it, then polls until it ends. The idempotency key makes a retry safe. */
async function task(): Promise<void> {
  const accepted = await roost.call(runTask, {
    params: { name },
    body: { message: question, async_mode: true },
    headers: { 'idempotency-key': crypto.randomUUID() },
  })
  const run = { params: { name, id: accepted.execution_id } }
  let execution = await roost.call(getExecution, run)
  while (execution.status === 'queued' || execution.status === 'running') {
    await new Promise((resolve) => setTimeout(resolve, 500))
    execution = await roost.call(getExecution, run)
  }
  console.log(`task: ${execution.status}, ${execution.response}, ${execution.cost ?? 0} USD`)
}
