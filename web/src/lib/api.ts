import { ApiError, type Client, createClient } from '@roost/contracts/client'
import type { Session } from './session.ts'

/** Refusals that say the session itself is over; other 401s are about what was typed into a form. */
const sessionEndings: readonly string[] = ['not_authenticated', 'invalid_token', 'session_expired']

/** The typed client with the token of the moment. A refused token ends the session in every tab. */
export function createApi(origin: string, session: Session): Client {
  const present = () => createClient(origin, session.token())
  const refused = (error: unknown): never => {
    if (isSessionEnded(error)) session.end()
    throw error
  }
  return {
    call: (endpoint, input) => present().call(endpoint, input).catch(refused),
    open: (endpoint, input) => present().open(endpoint, input),
    async *lines(endpoint, input) {
      try {
        yield* present().lines(endpoint, input)
      } catch (error) {
        refused(error)
      }
    },
    withToken: (token) => createClient(origin, token),
  }
}

export function isSessionEnded(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && sessionEndings.includes(error.body?.error ?? '')
}
