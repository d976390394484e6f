import type { Ephemeral } from '../../ports/ephemeral/port.ts'

/** Clients start a new session long before. */
const keptSeconds = 7 * 86_400
const keyOf = (session: string) => `mcp-session-ended:${session}`

/** All functions throw `EphemeralDown`. */
export function createMcpSessions(ephemeral: Pick<Ephemeral, 'put' | 'get'>) {
  return {
    end: (session: string): Promise<void> => ephemeral.put(keyOf(session), '1', keptSeconds),
    async endedOf(sessions: readonly string[]): Promise<string[]> {
      const found = await Promise.all(sessions.map((session) => ephemeral.get(keyOf(session))))
      return sessions.filter((_, index) => found[index] !== null)
    },
  }
}
