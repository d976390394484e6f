import type { ServerResponse } from 'node:http'
import type { LoggedRequest } from './log.ts'
import type { HowEnded } from './writer.ts'

/** The log entry of a request and the function that writes its answer. */
export type Decision = {
  logged: LoggedRequest
  answer: (response: ServerResponse, signal: AbortSignal) => Promise<HowEnded>
}
