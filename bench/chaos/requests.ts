import type { Chance } from './random.ts'

/** One request to the platform. The key in the message identifies its runs. */
export type Ask = {
  kind: 'task' | 'waited-task' | 'chat' | 'fan-out'
  agent: string
  path: string
  body: object
  /** Key of each run that it creates. */
  runKeys: string[]
  /** Key of the request itself. */
  idempotencyKey: string
}

export type AskedAgent = {
  name: string
  runtime: string
  /** Ids of its conversations. */
  sessions: string[]
}

/** File in the workspace in which each runtime records the runs it worked on. */
export const marksFile = '.chaos-marks'

export const answerTo = (runKey: string) => `done ${runKey}`

/**
 * Message of a run: wait for the model, write a mark, respond. The mark has the runtime's process id and start time, so
 * that two runtimes of one run are detected independently of the platform.
 */
export function messageFor(runKey: string, sleepSeconds: number): string {
  const mark = `echo "${runKey} $PPID $(cut -d' ' -f22 /proc/$PPID/stat)" >> /home/developer/${marksFile}`
  return `${runKey} [[sleep:${sleepSeconds.toFixed(2)}]] [[tool:Bash:${mark}]] [[reply:${answerTo(runKey)}]]`
}

/** Creates random requests of every kind; conversations only for agents that have some. */
export function createAsks(chance: Chance, agents: readonly AskedAgent[]): () => Ask {
  let count = 0
  const newKey = () => {
    count += 1
    return `RUN${String(count).padStart(6, '0')}`
  }
  const message = (key: string) =>
    messageFor(
      key,
      chance.pick([
        [5, 0.05],
        [3, chance.between(0.1, 1)],
        [1, 2],
      ]),
    )

  return () => {
    const agent = chance.pick(agents.map((each) => [1, each] as const))
    const session =
      agent.sessions.length > 0 ? chance.pick(agent.sessions.map((id) => [1, id] as const)) : null
    const kind = chance.pick([
      [70, 'task'],
      [8, 'waited-task'],
      [session === null ? 0 : 20, 'chat'],
      [8, 'fan-out'],
    ] as const)
    const runKeys = Array.from({ length: kind === 'fan-out' ? chance.whole(2, 4) : 1 }, newKey)
    const [first = ''] = runKeys
    const about = { kind, agent: agent.name, runKeys, idempotencyKey: `ask-${first}` }
    const base = `/api/agents/${agent.name}`
    switch (kind) {
      case 'task':
        return { ...about, path: `${base}/task`, body: { message: message(first), async_mode: true } }
      case 'waited-task':
        return { ...about, path: `${base}/task`, body: { message: message(first) } }
      case 'chat':
        return { ...about, path: `${base}/sessions/${session}/message`, body: { message: message(first) } }
      case 'fan-out': {
        const tasks = runKeys.map((key) => ({ message: message(key) }))
        const body = { tasks, max_concurrency: chance.whole(1, 3), async_mode: true }
        return { ...about, path: `${base}/fan-out`, body }
      }
    }
  }
}
