import type { ServerResponse } from 'node:http'
import type { LoggedRequest } from './log.ts'
import type { HowEnded } from './writer.ts'

/** What is done for one request: the line for the log, and the answer, which may take its time. */
export type Decision = {
  logged: LoggedRequest
  answer: (response: ServerResponse, signal: AbortSignal) => Promise<HowEnded>
}
