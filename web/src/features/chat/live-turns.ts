import type { FileAttachment } from '@roost/contracts/runs/attachments'
import type { OpenStream, StreamItem, StreamState } from '../../live/stream.ts'
import { readEvents } from '../../live/stream.ts'
import type { StreamSetting } from '../../live/stream-setting.ts'
import { readTurn } from '../../live/turn-stream.ts'
import { emptyTranscript, type Transcript } from '../transcripts/steps.ts'
import { appendLines } from '../transcripts/transcript-of.ts'
import { type TurnEnd, turnEnd } from './turn-end.ts'

export type SentQuestion = {
  message: string
  model: string | null
  files: readonly FileAttachment[]
  /** The idempotency key: a retry with the same key does not duplicate a message that arrived. */
  key: string
}

/**
 * `sending`: not confirmed yet. `waiting`: accepted but not started. `working`: the agent is running.
 * `ended`: see `end`. `refused`: see `fault`; nothing is stored.
 */
export type Phase = 'sending' | 'waiting' | 'working' | 'ended' | 'refused'

/** A turn that this page follows. Immutable. */
export type LiveTurn = {
  key: string
  sessionId: string
  executionId: string | null
  /** The message sent from this page and its time; null for a run that is only followed. */
  question: (SentQuestion & { at: string }) | null
  phase: Phase
  isStopping: boolean
  connection: StreamState
  transcript: Transcript
  end: TurnEnd | null
  fault: unknown
}

export type LiveTurnsDeps = {
  send(
    sessionId: string,
    question: SentQuestion,
    request: { headers: Record<string, string>; signal: AbortSignal },
  ): Promise<Response>
  follow(executionId: string): OpenStream
  /** The stored messages of this conversation have changed. Resolves when they are refetched. */
  onStored(sessionId: string): Promise<unknown>
  setting: StreamSetting
  /** Calls back within one frame, so that all lines received by then are rendered together. */
  gather(run: () => void): void
  now(): Date
  newKey(): string
}

export type LiveTurns = ReturnType<typeof createLiveTurns>

/** The turns that this page reads, across conversations. */
export function createLiveTurns(deps: LiveTurnsDeps) {
  const listeners = new Set<() => void>()
  let turns: readonly LiveTurn[] = []
  let reading = new AbortController()

  const set = (next: readonly LiveTurn[]) => {
    turns = next
    for (const listener of listeners) listener()
  }
  const change = (key: string, part: Partial<LiveTurn>) =>
    set(turns.map((turn) => (turn.key === key ? { ...turn, ...part } : turn)))
  const find = (key: string) => turns.find((turn) => turn.key === key)

  /** Reads a turn to its end and batches the rendering. */
  async function read(turn: LiveTurn, items: AsyncIterable<StreamItem>, signal: AbortSignal): Promise<void> {
    let gathered: Record<string, unknown>[] = []
    const flush = () => {
      const present = find(turn.key)
      if (gathered.length === 0 || !present || signal.aborted) return
      const transcript = withPieces(present.transcript, appendLines(present.transcript, gathered), gathered)
      const hasBegun = gathered.some(isSignOfWork)
      gathered = []
      change(turn.key, {
        transcript,
        ...(hasBegun && present.phase === 'waiting' ? { phase: 'working' } : {}),
      })
    }
    try {
      for await (const { object } of items) {
        if (gathered.length === 0) deps.gather(flush)
        gathered.push(object)
        const end = turnEnd(object)
        if (!end) continue
        flush()
        await settle(turn, end)
        return
      }
    } catch (fault) {
      if (signal.aborted) return
      flush()
      const wasAccepted = (find(turn.key)?.executionId ?? null) !== null
      if (wasAccepted) await settle(turn, { status: 'unknown', code: null, detail: null })
      else change(turn.key, { phase: 'refused', fault })
    }
  }

  async function settle({ key, sessionId }: LiveTurn, end: TurnEnd): Promise<void> {
    change(key, { end })
    // The stored messages replace the streamed ones, which stay visible until the stored ones are fetched.
    await deps.onStored(sessionId).catch(() => {})
    change(key, { phase: 'ended', isStopping: false })
  }

  function begin(sessionId: string, part: Pick<LiveTurn, 'executionId' | 'question' | 'phase'>): LiveTurn {
    const turn: LiveTurn = {
      key: part.executionId ?? deps.newKey(),
      sessionId,
      isStopping: false,
      connection: 'opening',
      transcript: emptyTranscript,
      end: null,
      fault: null,
      ...part,
    }
    set([...turns, turn])
    return turn
  }

  return {
    current: () => turns,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    send(sessionId: string, question: SentQuestion): void {
      const { signal } = reading
      const turn = begin(sessionId, {
        executionId: null,
        question: { ...question, at: deps.now().toISOString() },
        phase: 'sending',
      })
      const items = readTurn((request) => deps.send(sessionId, question, request), {
        follow: deps.follow,
        signal,
        setting: deps.setting,
        onState: (connection) => change(turn.key, { connection }),
        onExecution(executionId) {
          change(turn.key, { executionId, phase: 'waiting' })
          void deps.onStored(sessionId).catch(() => {})
        },
      })
      void read(turn, items, signal)
    },

    /** Reads a run from its first line that was started elsewhere, or before this page was loaded. */
    follow(sessionId: string, executionId: string): void {
      // The message being sent may belong to this run: its id arrives with the confirmation, after which
      // `follow` is called again.
      const isKnown = (turn: LiveTurn) => turn.executionId === executionId || turn.phase === 'sending'
      if (turns.some((turn) => turn.sessionId === sessionId && isKnown(turn))) return
      const { signal } = reading
      const turn = begin(sessionId, { executionId, question: null, phase: 'waiting' })
      const items = readEvents(deps.follow(executionId), {
        signal,
        setting: deps.setting,
        onState: (connection) => change(turn.key, { connection }),
      })
      void read(turn, items, signal)
    },

    markStopping: (key: string, isStopping: boolean) => change(key, { isStopping }),
    forget: (key: string) => set(turns.filter((turn) => turn.key !== key)),
    /** Stops all reading; the turns themselves continue. */
    close() {
      reading.abort()
      reading = new AbortController()
      set([])
    },
  }
}

/**
 * The platform does not store the partial answer of a stopped or failed turn, so the page keeps the pieces it
 * has shown.
 */
function withPieces(before: Transcript, after: Transcript, lines: readonly object[]): Transcript {
  const end = lines.map((line) => turnEnd({ ...line })).find((each) => each !== null)
  if (!end || end.status === 'success') return after
  const storedKeys = new Set(after.steps.map(({ key }) => key))
  const pieces = before.steps.filter(
    (step) => step.kind === 'text' && step.isPartial && !storedKeys.has(step.key),
  )
  return pieces.length > 0 ? { ...after, steps: [...after.steps, ...pieces] } : after
}

/** The first object only confirms that the turn was accepted. */
function isSignOfWork(object: Record<string, unknown>): boolean {
  return !(object.type === 'system' && object.subtype === 'accepted')
}
