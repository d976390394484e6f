/** Keys of runs, obtained as the agent program obtains them: by claiming the runs over a link. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Run } from '@roost/contracts/link/runs'
import { WebSocket } from 'ws'
import type { World } from './world.ts'

export type RunKeys = {
  /** The keys of runs of these people, in their order. */
  keys: string[]
  brokerTokens: string[]
  /** Their executions. */
  ids: string[]
}

/** Generous: a loaded machine takes seconds. */
const claimLimitMs = 120_000

/** Starts a task for each of these people and claims them; they run until they are ended. `waiting` are other runs. */
export async function runsOf(
  world: World,
  {
    agent,
    agentKey,
    tokens,
    waiting = [],
  }: { agent: string; agentKey: string; tokens: readonly string[]; waiting?: readonly string[] },
): Promise<RunKeys> {
  const ids = [...waiting]
  for (const token of tokens) {
    const body = { message: 'work', async_mode: true }
    ids.push((await world.ok('POST', `/api/agents/${agent}/task`, { token, body })).execution_id)
  }
  const socket = new WebSocket(`${world.internalUrl.replace('http', 'ws')}/link`, {
    headers: { authorization: `Bearer ${agentKey}` },
  })
  await once(socket, 'open')
  const claimed = new Map<string, Run>()
  // As an agent answers whose program does not record its workspace.
  const unknownMessage = { code: 'unknown_message', message: 'There is no such message.' }
  const answered = Promise.withResolvers<void>()
  const claim = () => socket.send(JSON.stringify({ id: 'claim', t: 'claim', free: 20 }))
  socket.on('message', (data) => {
    const message = JSON.parse(String(data))
    if (message.re === 'hello') claim()
    if (message.re === 'claim') {
      if (message.error) return answered.reject(new Error(JSON.stringify(message)))
      for (const run of message.runs as Run[]) claimed.set(run.execution_id, run)
      // An agent gets no runs before its skills are synchronized; it is woken then.
      if (claimed.size > 0 && ids.every((id) => claimed.has(id))) answered.resolve()
    }
    if (message.t === 'wake') claim()
    else if (message.t !== undefined) socket.send(JSON.stringify({ re: message.id, error: unknownMessage }))
  })
  const hello = {
    ...{ protocol: 1, agent_name: agent, image_version: null, runtime: 'claude-code', runtime_version: null },
    abilities: ['principals'],
    ...{ started_at: '2030-01-01T00:00:00.000Z', held: [] },
  }
  socket.send(JSON.stringify({ id: 'hello', t: 'hello', ...hello }))
  const timer = setTimeout(() => {
    answered.reject(new Error(`claimed ${claimed.size} of ${ids.length} runs`))
  }, claimLimitMs)
  await answered.promise.finally(() => {
    clearTimeout(timer)
    socket.terminate()
  })
  // Without people: the runs that wait.
  const runs = ids.length === 0 ? [...claimed.values()] : ids.map((id) => claimed.get(id) ?? assert.fail(id))
  return {
    keys: runs.map(({ key }) => key),
    brokerTokens: runs.map(({ broker }) => broker.token),
    ids: runs.map(({ execution_id }) => execution_id),
  }
}
