/**
 * Cost of a work tree for people who chat, compared with another tree in the same run: time to the first line of a
 * turn, in a conversation and in a new one, for the owner and a person with a share, and the memory of an idle agent.
 * `node bench/turn-cost.ts [rounds] [folder of the other tree]`
 */
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startMailServer } from '@roost/test-support/mail/index'
import { eventually } from '../checks/acceptance/platform.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median, ms, quantile, record, report } from './measure.ts'
import { type Memory, memoryOf } from './turn-cost/memory.ts'
import { type Conversation, openSide, type Side } from './turn-cost/side.ts'

await keepBenchmark()

const rounds = Number(process.argv[2] ?? 100)
const other = process.argv[3]
const trees = [resolve(import.meta.dirname, '..'), ...(other === undefined ? [] : [resolve(other)])]
const restarts = 5
/** After this time an agent has started, and has freed the memory of its start. */
const idleMs = 5000
/** A person does not answer immediately, so the end of the previous turn is not part of the next one. */
const betweenMs = 100

await using stack = new AsyncDisposableStack()
const mail = await startMailServer({ account: { user: 'roost@example.com', password: 'p@ss word' } })
stack.defer(() => mail.close())
const sides: Side[] = []
for (const [index, tree] of trees.entries())
  sides.push(stack.use(await openSide(tree, `bench-cost-${index + 1}`, mail)))

const series = new Map<string, number[][]>()
const persons = ['owner', 'sharer'] as const

await eachRound(restarts, async (side) => {
  const memory = await idleMemory(side)
  for (const name of Object.keys(memory) as (keyof Memory)[]) note(`idle ${name}`, side, memory[name])
})

const open = new Map<string, Conversation>()
await eachRound(rounds, async (side, round) => {
  for (const person of persons) {
    const key = `${person} ${side.tree}`
    const conversation = open.get(key) ?? (await side.converse(side.people[person]))
    open.set(key, conversation)
    await pause(betweenMs)
    const first = await conversation.turn()
    // The first two turns start the process, and fill caches.
    if (round > 0) note(`${person}, in a conversation`, side, first)
    else await conversation.turn()
  }
})
await eachRound(Math.ceil(rounds / 2), async (side, round) => {
  for (const person of persons) {
    const conversation = await side.converse(side.people[person])
    await pause(betweenMs)
    const first = await conversation.turn()
    if (round > 0) note(`${person}, in a new conversation`, side, first)
  }
})

for (const name of [...series.keys()].sort()) {
  if (name.startsWith('idle '))
    recordRow(`${name} memory`, name, {
      show: (megabytes) => `${megabytes.toFixed(1)} MB`,
      most: 2,
      unit: 'MB',
    })
  else recordRow(`first line, ${name}`, name, { show: ms, most: 10, unit: 'ms' })
}
await stack.disposeAsync()
report()

/** The sides take turns to be first, so that both see the same noise. */
async function eachRound(count: number, act: (side: Side, round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round <= count; round += 1)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await act(side, round)
}

function note(name: string, side: Side, value: number): void {
  const all = series.get(name) ?? sides.map(() => [])
  all[sides.indexOf(side)]?.push(value)
  series.set(name, all)
}

async function idleMemory({ platform, container }: Side): Promise<Memory> {
  const path = `/api/agents/${container.replace(/^agent-/, '')}`
  await platform.request('POST', `${path}/stop`)
  await platform.request('POST', `${path}/start`)
  await eventually(
    () => platform.request('GET', `${path}/files`),
    (reply) => reply.status === 200,
  )
  await pause(idleMs)
  return memoryOf(container)
}

type Style = { show(value: number): string; most: number; unit: string }

function recordRow(row: string, name: string, { show, most, unit }: Style): void {
  const [ours = [], peer = []] = series.get(name) ?? []
  const text = (values: number[]) => `${show(median(values))} (p95 ${show(quantile(values, 0.95))})`
  const more = median(ours) - median(peer)
  const isAlone = trees.length === 1
  record({
    row,
    ours: text(ours),
    peer: isAlone ? '-' : text(peer),
    value: isAlone ? median(ours) : more,
    limit: isAlone ? 'no other tree' : `at most ${most} ${unit} more than the other tree`,
    ok: isAlone || more <= most,
  })
}
