import { terminalCloseCodes as codes } from '@roost/contracts/agents/terminal'

/** How a terminal has ended, as shown to the user. */
export type Ending = { tone: 'info' | 'warning' | 'danger'; title: string; next: string }

/** `code` and `reason` of the closed socket; 1006 is a broken connection. */
export function endingOf(code: number, reason: string): Ending {
  const exit = code === codes.ended ? /^exit (\d+)$/.exec(reason)?.[1] : undefined
  if (exit !== undefined) return { tone: 'info', title: `The shell exited with code ${exit}`, next: '' }
  switch (code) {
    case codes.stopping:
      return {
        tone: 'warning',
        title: 'The platform is restarting',
        next: 'Open another terminal in a moment.',
      }
    case codes.badTicket:
      return {
        tone: 'danger',
        title: 'You are no longer signed in',
        next: 'Sign in and open another terminal.',
      }
    case codes.notOwner:
      return { tone: 'danger', title: 'Only the owner and admins can open terminals', next: '' }
    case codes.stopped:
      return {
        tone: 'warning',
        title: 'The agent has stopped',
        next: 'Start the agent and open another terminal.',
      }
    case codes.idle:
      return { tone: 'info', title: 'Closed after 30 minutes of inactivity', next: '' }
    case codes.outdated:
      return {
        tone: 'warning',
        title: 'The container of this agent is too old for a terminal',
        next: 'Restart the agent to update its container.',
      }
    case codes.tooMany:
      return {
        tone: 'warning',
        title: 'The maximum number of terminals of this agent is open',
        next: 'Close a terminal in this or another window.',
      }
    case codes.failed:
      return { tone: 'danger', title: 'The terminal failed', next: reason }
    default:
      return { tone: 'warning', title: 'The connection broke', next: 'Programs in the terminal have ended.' }
  }
}
