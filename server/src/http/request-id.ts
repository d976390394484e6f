import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestIdOf } from '@roost/contracts/kit/request-id'

/** Returns the id that header, body, log and audit entry of a request share. */
export function requestId(request: IncomingMessage): string {
  return requestIdOf(request.headers['x-request-id'], randomUUID)
}

/** Returns the id of a response that another handler started, or a new id. */
export function requestIdOfReply(response: ServerResponse | undefined): string {
  return requestIdOf(response?.getHeader('x-request-id')?.toString(), randomUUID)
}
