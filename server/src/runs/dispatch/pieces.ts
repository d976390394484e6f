import type { Partial as PartialSignal } from '@roost/contracts/link/runs'
import { maskPiece } from '../../kit/mask-secrets.ts'
import type { Log } from '../../ports/log.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { Live, PartialText } from '../transcripts/index.ts'
import type { SecretsOf } from './lines.ts'

/** Pieces of answers for live readers, in order per run. */
export type Pieces = {
  add(agentId: string, piece: Pick<PartialSignal, 'execution_id' | 'kind' | 'text' | 'at'>): void
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
  blocks: Map<PartialText['kind'], Block>
}

type Block = {
  /** The end of the block so far, if it may be the start of a secret. */
  held: string
  /** Characters received, as the agent counts them. */
  length: number
}

/**
 * Masks known secrets in pieces, as in lines. The possible start of a secret waits for the next piece or the
 * complete line. Fails closed: when the secrets cannot be read, the piece is omitted and its line has the
 * text.
 */
export function createPieces({ live, log, secretsOf, runOf }: PiecesDeps): Pieces {
  const runs = new Map<string, RunPieces>()

  function ofRun(executionId: string): RunPieces {
    const run = runs.get(executionId) ?? { row: null, turn: Promise.resolve(), blocks: new Map() }
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
    const { execution_id, kind, text, at } = piece
    run.row ??= await runOf(execution_id)
    if (!run.row) return
    const secrets = (await secretsOf(agentId))(run.row)
    const block = run.blocks.get(kind)
    // False after pieces, or the end of the block, that another process received from the agent.
    const isNext = at === undefined || (at > 0 && at === (block?.length ?? at))
    if (!isNext) live.closed(execution_id, [kind])
    const { masked, held } = maskPiece((isNext ? (block?.held ?? '') : '') + text, secrets)
    run.blocks.set(kind, { held, length: (at ?? block?.length ?? 0) + text.length })
    if (masked !== '') live.partial(execution_id, { type: 'partial', kind, text: masked }, at)
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
        for (const kind of kinds) runs.get(executionId)?.blocks.delete(kind)
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
