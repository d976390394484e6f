import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestIdOf } from '@roost/contracts/kit/request-id'

/** The id that header, body, log and audit entry of one request share. */
export function requestId(request: IncomingMessage): string {
  return requestIdOf(request.headers['x-request-id'], randomUUID)
}

/** The id of a reply that another handler has begun, or a new one where none was set. */
export function requestIdOfReply(response: ServerResponse | undefined): string {
  return requestIdOf(response?.getHeader('x-request-id')?.toString(), randomUUID)
}
