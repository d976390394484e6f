import type { Side } from './side.ts'

/** Returns accepted tasks per second. Each agent has one caller, so that the order of its tasks is known. */
export async function acceptAll(side: Side, perAgent: number): Promise<number> {
  side.begin()
  const started = performance.now()
  await Promise.all(
    side.agents.map(async ({ name }) => {
      for (let number = 1; number <= perAgent; number += 1) await side.post(name, `task #${number}`)
    }),
  )
  return (perAgent * side.agents.length) / ((performance.now() - started) / 1000)
}

/**
 * Returns the milliseconds of each of `count` posts, sent at a fixed rate. Includes the wait for the agent's previous
 * post, which keeps the order of its tasks known.
 */
export async function acceptPaced(side: Side, count: number, perSecond: number): Promise<number[]> {
  side.begin()
  const started = performance.now()
  const answers: Promise<number>[] = []
  const lasts = new Map<string, Promise<number>>()
  for (let index = 0; index < count; index += 1) {
    const early = started + (index * 1000) / perSecond - performance.now()
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
    const agent = side.agents[index % side.agents.length]
    if (!agent) continue
    const sentAt = performance.now()
    const before = lasts.get(agent.name)
    const number = Math.floor(index / side.agents.length) + 1
    const answer = (async () => {
      await before
      await side.post(agent.name, `task #${number}`)
      return performance.now() - sentAt
    })()
    lasts.set(agent.name, answer)
    answers.push(answer)
  }
  return Promise.all(answers)
}
