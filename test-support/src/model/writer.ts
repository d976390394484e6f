import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Holds } from './holds.ts'
import type { SeenRequest } from './log.ts'
import type { Plan } from './plan.ts'
import type { Answer, JsonAnswer, Provider, StreamedAnswer } from './provider.ts'

export type HowEnded = Exclude<SeenRequest['ended'], 'open'>

/** Sends a JSON body. */
export function writeJson(response: ServerResponse, { status, headers, body }: JsonAnswer): HowEnded {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
  return 'answered'
}

/** Waits before the first byte; ends immediately when the client disconnects. */
export async function waitBefore(plan: Plan, holds: Holds, signal: AbortSignal): Promise<void> {
  if (plan.delaySeconds > 0) await delay(plan.delaySeconds * 1000, undefined, { signal })
  for (const key of plan.holds) await holds.until(key, signal)
}

/** Writes an answer in the requested format; a cut one ends in the middle by closing the connection. */
export async function writeAnswer(input: {
  response: ServerResponse
  provider: Provider
  plan: Plan
  answer: Answer
  signal: AbortSignal
}): Promise<HowEnded> {
  const { response, provider, plan, answer, signal } = input
  const form = answer.request.streamForm
  if (form === null) return writeComplete(response, { body: provider.complete(answer), isCut: plan.isCut })
  response.writeHead(200, {
    'content-type': form === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/json',
    'cache-control': 'no-cache',
  })
  const stream = provider.stream(answer)
  response.write(stream.head)
  const pieces = plan.isCut ? firstHalf(stream) : stream.pieces
  for (const [index, piece] of pieces.entries()) {
    if (index > 0 && plan.pieceDelayMs > 0) await delay(plan.pieceDelayMs, undefined, { signal })
    if (signal.aborted) return 'client_gone'
    response.write(piece)
  }
  if (plan.isCut) return breakOff(response)
  response.end(stream.tail)
  return 'answered'
}

async function writeComplete(
  response: ServerResponse,
  { body, isCut }: { body: unknown; isCut: boolean },
): Promise<HowEnded> {
  if (!isCut) return writeJson(response, { status: 200, headers: {}, body })
  const text = JSON.stringify(body)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.write(text.slice(0, text.length / 2))
  return breakOff(response)
}

/** A single piece is cut inside. */
function firstHalf({ pieces }: StreamedAnswer): string[] {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return [only.slice(0, only.length / 2)]
  return pieces.slice(0, Math.floor(pieces.length / 2))
}

/** Flushes what was written first, so that the client sees the beginning of an answer. */
async function breakOff(response: ServerResponse): Promise<HowEnded> {
  await new Promise<void>((resolve) => {
    response.once('close', resolve)
    response.write('', () => resolve())
  })
  response.destroy()
  return 'cut'
}
