import { ApiError, type Client, createClient } from '@roost/contracts/client'
import type { Session } from './session.ts'

/** Codes of a 401 that end the session. Other 401s are about form input, such as a wrong password. */
const sessionEndings: readonly string[] = ['not_authenticated', 'invalid_token', 'session_expired']

/** The typed client with the current token. A refused token lapses the session in every tab. */
export function createApi(origin: string, session: Session): Client {
  const present = () => {
    const token = session.token()
    const refused = (error: unknown): never => {
      // A late refusal of an old token must not end a newer session.
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
