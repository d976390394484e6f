/**
 * Sends requests made from the document to a temporary platform. Each reply must be documented.
 * `ROOST_FUZZ_ROUNDS` sets the requests per operation, `ROOST_FUZZ_SEED` repeats a run.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Platform, startPlatform } from '../acceptance/platform.ts'
import { type Operation, operationsOf, wholeDocument } from './document.ts'
import { type AttachedAgent, attachAgent } from './fuzz/agents.ts'
import { createCallers, isInternal } from './fuzz/callers.ts'
import { createRandom } from './fuzz/random.ts'
import { createReplyCheck } from './fuzz/replies.ts'
import { createRequests, type Manner, manners, type Request } from './fuzz/requests.ts'
import { send } from './fuzz/send.ts'
import { createThings } from './fuzz/things.ts'
import { createValues } from './fuzz/values.ts'

const rounds = Number(process.env.ROOST_FUZZ_ROUNDS ?? 3)
const seed = Number(process.env.ROOST_FUZZ_SEED ?? 20_300_101)
const roundsPerTest = 3

const document = wholeDocument()
const order = ['POST', 'PUT', 'GET', 'PATCH', 'DELETE']
const operations = operationsOf(document).toSorted(
  (one, other) => order.indexOf(one.method) - order.indexOf(other.method),
)
const random = createRandom(seed)
/** Their programs run. */
const agents = ['alpha', 'beta']
/** Stopped, renamed and deleted, so that the others keep running. */
const sacrifice = 'gamma'
const endsAgents = ['deleteAgent', 'renameAgent', 'startAgent', 'stopAgent', 'regenerateAgentKey']
const things = createThings(random, (id) =>
  id !== null && endsAgents.includes(id) ? sacrifice : random.pick(agents),
)
const values = createValues(document, random, things.known)
const makeRequest = createRequests({ random, values, things })
const problemOf = createReplyCheck(document)
/** Statuses that each operation answered. */
const seen = new Map<string, Set<number>>()

let platform: Platform
const attached: AttachedAgent[] = []
let callers: Awaited<ReturnType<typeof createCallers>>

before(async () => {
  platform = await startPlatform({ env: { ROOST_CONTAINERS_URL: 'fake:', ROOST_LOG_LEVEL: 'info' } })
  for (const name of agents) {
    await platform.request('POST', '/api/agents', { name })
    attached.push(await attachAgent(platform, name))
  }
  const agentKeys = new Map(agents.map((name, index) => [name, attached[index]?.key ?? '']))
  callers = await createCallers(platform, { random, things, agentKeys })
})
after(async () => {
  for (const agent of attached) await agent[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
})

/** Restores the agents that the last round stopped or deleted. */
async function repair(): Promise<void> {
  const token = await callers.session()
  await platform.request('POST', '/api/agents', { name: sacrifice }, { token })
  await platform.request('POST', `/api/agents/${sacrifice}/stop`, undefined, { token })
  for (const name of agents) await platform.request('POST', `/api/agents/${name}/start`, undefined, { token })
}

/** Sends one request. Returns it with what is wrong with its reply, or null. */
async function ask(operation: Operation, manner: Manner): Promise<string | null> {
  const request = makeRequest(operation, manner)
  const caller = callers.choose(operation, manner, request.params)
  if (caller.token !== null) request.headers.Authorization = `Bearer ${caller.token}`
  const baseUrl = isInternal(operation.path) ? `http://127.0.0.1:${platform.internalPort}` : platform.url
  try {
    const reply = await send(baseUrl, request)
    if (reply.status < 300 && reply.isWhole) things.learn(operation.path, request.params, parsed(reply.text))
    await callers.heed(caller, reply)
    seen.set(operation.id, (seen.get(operation.id) ?? new Set()).add(reply.status))
    const problem = problemOf(operation, reply)
    return (
      problem &&
      `${problem}\n${described(request, caller.name)}\n  → ${reply.status} ${reply.text.slice(0, 400)}`
    )
  } catch (error) {
    return `${error}\n${described(request, caller.name)}`
  }
}

function described({ method, path, headers, body }: Request, caller: string): string {
  const { Authorization: _, ...shown } = headers
  return `  ${method} ${path.slice(0, 300)} by ${caller} ${JSON.stringify(shown).slice(0, 300)}\n  ${body?.slice(0, 400) ?? ''}`
}

for (let first = 1; first <= rounds; first += roundsPerTest) {
  const last = Math.min(rounds, first + roundsPerTest - 1)
  test(`rounds ${first} to ${last} over all operations (seed ${seed}): every reply is documented`, async () => {
    const problems = new Map<string, string>()
    for (let round = first; round <= last; round += 1) {
      await repair()
      for (const operation of operations) {
        const manner = manners[(round - 1) % manners.length] ?? 'fitting'
        const problem = await ask(operation, manner)
        // One request per kind of problem is enough.
        if (problem)
          problems.set(
            `${operation.id}: ${problem.split('\n', 1)[0]?.slice(0, 80)}`,
            `${operation.id}: ${problem}`,
          )
      }
    }
    const shown = [...problems.values()].slice(0, Number(process.env.ROOST_FUZZ_SHOWN ?? 20))
    if (problems.size > 0) assert.fail(`${problems.size} problems\n\n${shown.join('\n\n')}`)
  })
}

test('most operations succeed at least once and refuse at least once', () => {
  const share = (isMeant: (status: number) => boolean) =>
    operations.filter(({ id }) => [...(seen.get(id) ?? [])].some(isMeant)).length / operations.length
  const used = share((status) => status < 300)
  const refused = share((status) => status >= 400 && status < 500)
  console.log(
    `${Math.round(used * 100)} % of ${operations.length} operations succeeded, ${Math.round(refused * 100)} % refused`,
  )
  assert.equal(seen.size, operations.length)
  assert.ok(used > 0.5, `only ${used} succeeded`)
  assert.ok(refused > 0.8, `only ${refused} refused`)
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
