import type { McpServer } from '@roost/contracts/link/credentials'
import type { RuntimeName } from '@roost/contracts/link/messages'
import type { RunErrorCode, RunMetadata, TerminalReason } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import type { Json } from '../kit/json.ts'

/**
 * What the agent asks of a coding CLI. An adapter says how a process is started and understands its lines;
 * it never starts anything itself and reads no clock, so that its whole behaviour is lines in, steps out.
 * Every adapter and the fake pass `suite.ts`.
 */
export type Runtime = {
  readonly name: RuntimeName
  /** Where the CLI is found; `--version` is asked of it. */
  readonly command: string
  /** What the run asks for and this CLI cannot do, in sentences for the transcript. */
  caveats?(setup: Setup): string[]
  /** One process serves many turns of a conversation; else each turn resumes the runtime's session. */
  keepsAlive(setup: Setup): boolean
  /** Writes what the process needs outside the workspace, and says how to start it. */
  prepare(setup: Setup): Promise<Launch>
  /** Understands the lines of one process. `now` counts milliseconds. */
  converse(setup: Setup, now: () => number): Dialogue
}

/** What is fixed for the life of a process; another value needs another process. */
export type Setup = {
  kind: 'chat' | 'task'
  systemPrompt: string
  model: string | null
  /** Null: every tool. Otherwise names as the caller gave them, `Bash(git *)` included. */
  allowedTools: string[] | null
  maxTurns: number | null
  /** The runtime's own session to continue. */
  resumeSessionId: string | null
  readOnly: ReadOnlyRules | null
  broker: { url: string; token: string }
  mcp: { url: string; key: string } | null
  /** Tool servers of the workspace beside the platform's own, for a CLI that does not read `.mcp.json` itself. */
  servers: Record<string, McpServer>
  /** Files of the first turn's images, for a CLI that takes them as arguments. */
  imagePaths: string[]
  places: Places
}

export type Places = {
  /** The workspace; the process's home and working directory. */
  home: string
  /** Sessions and settings of the CLI, on the volume: what a conversation is resumed from. */
  state: string
  /** For this process alone, outside the workspace; removed when it has ended. */
  scratch: string
}

export type ReadOnlyRules = { blocked: string[]; allowed: string[] }

/** Variables with a null are removed. */
export type Launch = { command: string; args: string[]; env: Record<string, string | null> }

export type TurnInput = { text: string; images: { mimetype: string; data: string; path: string }[] }

/** What is to be done about a line that was read. */
export type Step =
  | { do: 'line'; line: TranscriptLine }
  | { do: 'partial'; kind: 'text' | 'thinking'; text: string }
  | { do: 'write'; text: string }
  /** Nothing more will be written to the process. */
  | { do: 'close-input' }
  /** `isEarly`: the process would go on by itself, and is not waited for. */
  | { do: 'end'; outcome: Outcome; isEarly?: true }

export type Dialogue = {
  begin(turn: TurnInput): Step[]
  read(line: Json): Step[]
  /** A piece of its standard error. */
  hear?(text: string): void
  /** A line that asks the process to give up the turn and stay; null when only a signal does. */
  interrupt(): string | null
  /** The process ended and the turn has no result yet. */
  ended(exit: Exit): Outcome
}

export type Exit = {
  /** Null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
  /** The last lines it wrote to standard error. */
  stderr: string
  /** The kernel's memory killer ended it. */
  isOutOfMemory: boolean
}

export type Outcome = {
  status: 'success' | 'failed'
  response: string | null
  error: string | null
  errorCode: RunErrorCode | null
  terminalReason: TerminalReason
  metadata: RunMetadata
  sessionId: string | null
  /**
   * The connection to the model broke in the middle of an answer, which this CLI takes for the end: with this
   * message, another process goes on in the session.
   */
  again?: string
}
