import type { Partial as PartialSignal } from '@roost/contracts/link/runs'
import { maskPiece } from '../../kit/mask-secrets.ts'
import type { Log } from '../../ports/log.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { Live, PartialText } from '../transcripts/index.ts'
import type { SecretsOf } from './lines.ts'

/** Pieces of answers on their way to whoever reads along; all of one run in the order in which they came. */
export type Pieces = {
  add(agentId: string, piece: Pick<PartialSignal, 'execution_id' | 'kind' | 'text'>): void
  /** The blocks of these kinds come as lines now. Resolves when every piece before has been told. */
  closed(executionId: string, kinds: readonly PartialText['kind'][]): Promise<void>
  forget(executionId: string): void
}

export type PiecesDeps = {
  live: Pick<Live, 'partial' | 'closed'>
  log: Pick<Log, 'warn'>
  secretsOf: SecretsOf
  /** Null: there is no such run. */
  runOf(executionId: string): Promise<ExecutionRow | null>
}

type Told = {
  row: ExecutionRow | null
  turn: Promise<void>
  /** The end of each block, as far as it may be the beginning of a secret. */
  held: Map<PartialText['kind'], string>
}

/**
 * Blots the known secrets out of pieces, as `lines` does it of lines. What may be the first half of one is told
 * with the next piece, or in the line that has the whole block. Fails closed: a piece for which the secrets
 * cannot be looked up is told by its line alone.
 */
export function createPieces({ live, log, secretsOf, runOf }: PiecesDeps): Pieces {
  const runs = new Map<string, Told>()

  function ofRun(executionId: string): Told {
    const run = runs.get(executionId) ?? { row: null, turn: Promise.resolve(), held: new Map() }
    runs.delete(executionId)
    runs.set(executionId, run)
    // The end of a run may go unheard; the runs that were silent for longest are forgotten.
    const [oldest] = runs.keys()
    if (runs.size > mostRuns && oldest !== undefined) runs.delete(oldest)
    return run
  }

  async function tell(run: Told, agentId: string, piece: Parameters<Pieces['add']>[1]): Promise<void> {
    const { execution_id, kind, text } = piece
    run.row ??= await runOf(execution_id)
    if (!run.row) return
    const secrets = (await secretsOf(agentId))(run.row)
    const { told, held } = maskPiece((run.held.get(kind) ?? '') + text, secrets)
    run.held.set(kind, held)
    if (told !== '') live.partial(execution_id, { type: 'partial', kind, text: told })
  }

  return {
    add(agentId, piece) {
      const run = ofRun(piece.execution_id)
      run.turn = run.turn
        .then(() => tell(run, agentId, piece))
        .catch((error: unknown) => log.warn({ err: error }, 'a piece of an answer was not told'))
    },
    closed(executionId, kinds) {
      const close = () => {
        for (const kind of kinds) runs.get(executionId)?.held.delete(kind)
        live.closed(executionId, kinds)
      }
      const run = runs.get(executionId)
      if (!run) return Promise.resolve(close())
      run.turn = run.turn.then(close)
      return run.turn
    },
    forget: (executionId) => void runs.delete(executionId),
  }
}

const mostRuns = 1000
