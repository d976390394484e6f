import { terminalCloseCodes as codes } from '@roost/contracts/agents/terminal'

/** How a terminal has ended, for the person who had it open. */
export type Ending = { tone: 'info' | 'warning' | 'danger'; title: string; next: string }

/** `code` and `reason` as the socket was closed; 1006 is a connection that broke. */
export function endingOf(code: number, reason: string): Ending {
  const exit = code === codes.ended ? /^exit (\d+)$/.exec(reason)?.[1] : undefined
  if (exit !== undefined) return { tone: 'info', title: `The shell has ended with code ${exit}`, next: '' }
  switch (code) {
    case codes.stopping:
      return { tone: 'warning', title: 'The platform restarts', next: 'Open another terminal in a moment.' }
    case codes.badTicket:
      return {
        tone: 'danger',
        title: 'You are not signed in any more',
        next: 'Sign in and open another one.',
      }
    case codes.notOwner:
      return { tone: 'danger', title: 'Only the owner and admins open terminals', next: '' }
    case codes.stopped:
      return { tone: 'warning', title: 'The agent has stopped', next: 'Start it and open another terminal.' }
    case codes.idle:
      return { tone: 'info', title: 'Closed after half an hour in which nothing happened', next: '' }
    case codes.outdated:
      return {
        tone: 'warning',
        title: 'The container of this agent is too old for a terminal',
        next: 'Restart the agent: it comes back with the present one.',
      }
    case codes.tooMany:
      return {
        tone: 'warning',
        title: 'As many terminals are open at this agent as there may be',
        next: 'Close one, here or in another window.',
      }
    case codes.failed:
      return { tone: 'danger', title: 'The terminal was lost', next: reason }
    default:
      return { tone: 'warning', title: 'The connection broke', next: 'What ran in the terminal has ended.' }
  }
}
