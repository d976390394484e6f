import type { Partial as PartialSignal } from '@roost/contracts/link/runs'
import type { Clock } from '../../kit/clock.ts'
import { maskPiece } from '../../kit/mask-secrets.ts'
import type { Log } from '../../ports/log.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { Live, PartialText } from '../transcripts/index.ts'
import type { SecretsOf } from './lines.ts'

/** Pieces of answers for live readers, in order per run. */
export type Pieces = {
  /** Resolves when the piece was published or dropped. */
  add(agentId: string, piece: Pick<PartialSignal, 'execution_id' | 'kind' | 'text' | 'at'>): Promise<void>
  /** The blocks of these kinds are complete. Resolves when every earlier piece was published. */
  closed(executionId: string, kinds: readonly PartialText['kind'][]): Promise<void>
  remove(executionId: string): void
}

export type PiecesDeps = {
  clock: Pick<Clock, 'now'>
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
  window: { startsAt: number; used: number }
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
 * text. So are pieces that come faster than any model writes.
 */
export function createPieces({ clock, live, log, secretsOf, runOf }: PiecesDeps): Pieces {
  const runs = new Map<string, RunPieces>()

  function ofRun(executionId: string): RunPieces {
    const run = runs.get(executionId) ?? {
      ...{ row: null, turn: Promise.resolve(), blocks: new Map() },
      window: { startsAt: 0, used: 0 },
    }
    runs.delete(executionId)
    runs.set(executionId, run)
    // The end of a run may be missed, so the least recently updated run is dropped.
    const [oldest] = runs.keys()
    if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest)
    return run
  }

  function isAllowed({ window }: RunPieces, characters: number): boolean {
    const now = clock.now().getTime()
    if (now - window.startsAt >= windowMs) Object.assign(window, { startsAt: now, used: 0 })
    window.used += characters
    return window.used <= maxPerWindow
  }

  async function publish(
    run: RunPieces,
    agentId: string,
    piece: Parameters<Pieces['add']>[1],
  ): Promise<void> {
    const { execution_id, kind, text, at } = piece
    const block = run.blocks.get(kind)
    if (!isAllowed(run, perPiece + text.length + (block?.held.length ?? 0)))
      return live.closed(execution_id, [kind])
    run.row ??= await runOf(execution_id)
    if (!run.row) return
    const secrets = (await secretsOf(agentId))(run.row)
    // False if the agent was connected to another process meanwhile, which got the pieces in between.
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
      return run.turn
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
/** In characters. Models write some thousand per second. */
const maxPerWindow = 256 * 1024
const windowMs = 4000
/** What a piece costs besides its characters. */
const perPiece = 100
