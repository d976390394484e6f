import type { Partial as PartialSignal } from '@roost/contracts/link/runs'
import { maskPiece } from '../../kit/mask-secrets.ts'
import type { Log } from '../../ports/log.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { Live, PartialText } from '../transcripts/index.ts'
import type { SecretsOf } from './lines.ts'

/** Pieces of answers for live readers, in order per run. */
export type Pieces = {
  add(agentId: string, piece: Pick<PartialSignal, 'execution_id' | 'kind' | 'text'>): void
  /** The blocks of these kinds are complete. Resolves when every earlier piece was published. */
  closed(executionId: string, kinds: readonly PartialText['kind'][]): Promise<void>
  remove(executionId: string): void
}

export type PiecesDeps = {
  live: Pick<Live, 'partial' | 'closed'>
  log: Pick<Log, 'warn'>
  secretsOf: SecretsOf
  /** Null for an unknown run. */
  runOf(executionId: string): Promise<ExecutionRow | null>
}

type RunPieces = {
  row: ExecutionRow | null
  turn: Promise<void>
  /** The end of each block that may be the start of a secret. */
  pending: Map<PartialText['kind'], string>
}

/**
 * Masks known secrets in pieces, as in lines. The possible start of a secret waits for the next piece or the
 * complete line. Fails closed: when the secrets cannot be read, the piece is omitted and its line has the
 * text.
 */
export function createPieces({ live, log, secretsOf, runOf }: PiecesDeps): Pieces {
  const runs = new Map<string, RunPieces>()

  function ofRun(executionId: string): RunPieces {
    const run = runs.get(executionId) ?? { row: null, turn: Promise.resolve(), pending: new Map() }
    runs.delete(executionId)
    runs.set(executionId, run)
    // The end of a run may be missed, so the least recently updated run is dropped.
    const [oldest] = runs.keys()
    if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest)
    return run
  }

  async function publish(
    run: RunPieces,
    agentId: string,
    piece: Parameters<Pieces['add']>[1],
  ): Promise<void> {
    const { execution_id, kind, text } = piece
    run.row ??= await runOf(execution_id)
    if (!run.row) return
    const secrets = (await secretsOf(agentId))(run.row)
    const { masked, held } = maskPiece((run.pending.get(kind) ?? '') + text, secrets)
    run.pending.set(kind, held)
    if (masked !== '') live.partial(execution_id, { type: 'partial', kind, text: masked })
  }

  return {
    add(agentId, piece) {
      const run = ofRun(piece.execution_id)
      run.turn = run.turn
        .then(() => publish(run, agentId, piece))
        .catch((error: unknown) => log.warn({ err: error }, 'a piece of an answer was not published'))
    },
    closed(executionId, kinds) {
      const close = () => {
        for (const kind of kinds) runs.get(executionId)?.pending.delete(kind)
        live.closed(executionId, kinds)
      }
      const run = runs.get(executionId)
      if (!run) return Promise.resolve(close())
      run.turn = run.turn.then(close)
      return run.turn
    },
    remove: (executionId) => void runs.delete(executionId),
  }
}

const maxRuns = 1000
