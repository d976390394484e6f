import type { Clock } from '../kit/clock.ts'
import { type Answer, answer, type StreamAnswer, streamAnswer } from './route.ts'

export type Keepalive = { clock: Pick<Clock, 'wait'>; everySeconds: number }

/**
 * Responds with the value of `work` as JSON, for work that takes minutes and whose status is certain. While it runs,
 * spaces before the document keep proxies from ending a silent connection. An error after the first space can only cut
 * the connection; one before it is an ordinary error response.
 */
export async function keepingAlive(
  work: Promise<unknown>,
  { clock, everySeconds }: Keepalive,
): Promise<Answer | StreamAnswer> {
  const isOver = new AbortController()
  const settled = work.finally(() => isOver.abort('over'))
  // A client that disconnects does not read the outcome.
  settled.catch(() => {})
  const pause = () => clock.wait(everySeconds * 1000, isOver.signal)

  async function* document(): AsyncGenerator<string, void, undefined> {
    while (!isOver.signal.aborted) {
      yield ' '
      await pause()
    }
    yield JSON.stringify(await settled)
  }

  await pause()
  if (isOver.signal.aborted) return answer(await settled)
  return streamAnswer('application/json; charset=utf-8', document())
}
