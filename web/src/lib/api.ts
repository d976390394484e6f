import { ApiError, type Client, createClient } from '@roost/contracts/client'
import type { Session } from './session.ts'

/** Refusals that say the session itself is over; other 401s are about what was typed into a form. */
const sessionEndings: readonly string[] = ['not_authenticated', 'invalid_token', 'session_expired']

/** The typed client with the token of the moment. A refused token lapses the session in every tab. */
export function createApi(origin: string, session: Session): Client {
  const present = () => {
    const token = session.token()
    const refused = (error: unknown): never => {
      // What is refused late must not end the session that has begun since.
      if (isSessionEnded(error) && session.token() === token) session.lapse()
      throw error
    }
    return { client: createClient(origin, token), refused }
  }
  return {
    call(endpoint, input) {
      const { client, refused } = present()
      return client.call(endpoint, input).catch(refused)
    },
    open: (endpoint, input) => present().client.open(endpoint, input),
    async *lines(endpoint, input) {
      const { client, refused } = present()
      try {
        yield* client.lines(endpoint, input)
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
