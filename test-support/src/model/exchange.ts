import type { IncomingMessage, ServerResponse } from 'node:http'
import { decide, refuse } from './decide.ts'
import type { Decision } from './decision.ts'
import type { Holds } from './holds.ts'
import type { RequestLog } from './log.ts'
import type { RefusedRequest } from './provider.ts'
import { closestProvider } from './providers.ts'
import { type Received, receive } from './received.ts'
import { createScript, type Script } from './script.ts'
import { type HowEnded, writeJson } from './writer.ts'

/**
 * Answers one request. `signal` aborts when the client disconnects or the server closes. Rejects only when
 * logging fails.
 */
export type Exchange = (
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
) => Promise<void>

/** Creates the exchange of one server: receive, decide, log, answer. */
export function createExchange(log: RequestLog, holds: Holds, isDemo: boolean): Exchange {
  const script = createScript(holds, isDemo)
  return async (request, response, signal) => {
    const received = await receive(request).catch(() => null)
    // The client disconnected before its request was complete.
    if (!received) return void response.destroy()
    const decision = decideSafely(received, script)
    const entry = log.add(decision.logged)
    const ended = await decision.answer(response, signal).catch((cause: unknown): HowEnded => {
      if (signal.aborted || response.headersSent) response.destroy()
      else return writeJson(response, closestProvider(received.path).error(fault(cause)))
      return signal.aborted ? 'client_gone' : 'cut'
    })
    log.end(entry, ended)
  }
}

/** An internal error is answered as such and must not stop the server. */
function decideSafely(received: Received, script: Script): Decision {
  try {
    return decide(received, script)
  } catch (cause) {
    return refuse(received, null, fault(cause))
  }
}

function fault(cause: unknown): RefusedRequest {
  return { cause: 'broken', message: `fault of the model server: ${String(cause)}` }
}
