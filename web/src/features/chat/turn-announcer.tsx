import type { LiveTurn } from './live-turns.ts'

/** Announces the start and the end of an answer to screen readers, not each piece. */
export function TurnAnnouncer({ live, agentLabel }: { live: readonly LiveTurn[]; agentLabel: string }) {
  return (
    <p role="status" className="sr-only">
      {wordsOf(live.at(-1), agentLabel)}
    </p>
  )
}

function wordsOf(turn: LiveTurn | undefined, agentLabel: string): string {
  if (!turn) return ''
  const isOver = turn.end !== null || turn.phase === 'ended' || turn.phase === 'refused'
  if (!isOver) return `${agentLabel} is answering`
  if (turn.phase === 'refused') return ''
  return turn.end?.status === 'success' ? `${agentLabel} has answered` : `${agentLabel} has stopped`
}
