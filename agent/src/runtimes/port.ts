import type { McpServer } from '@roost/contracts/link/credentials'
import type { RuntimeName } from '@roost/contracts/link/messages'
import type { RunErrorCode, RunMetadata, TerminalReason } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import type { Json } from '../kit/json.ts'

/**
 * The interface to a coding CLI. An adapter describes how to start a process and interprets its lines. It
 * starts nothing and reads no clock: lines in, steps out. Every adapter and the fake pass `suite.ts`.
 */
export type Runtime = {
  readonly name: RuntimeName
  /** The CLI's command on the PATH. */
  readonly command: string
  /** Paths of the workspace that this CLI always obeys. Those that the owner did not write are set aside. */
  readonly reads?: readonly string[]
  /** Returns features of the run that this CLI lacks, as sentences for the transcript. */
  caveats?(setup: Setup): string[]
  /** True when one process serves several turns; otherwise each turn resumes the runtime's session. */
  keepsAlive(setup: Setup): boolean
  /** Writes files that the process needs to its scratch folder and returns how to start it. */
  prepare(setup: Setup): Promise<Launch>
  /** Interprets the lines of one process. `now` returns milliseconds. */
  converse(setup: Setup, now: () => number): Dialogue
}

/** Fixed for the life of a process; a change needs a new process. */
export type Setup = {
  kind: 'chat' | 'task'
  systemPrompt: string
  model: string | null
  /** Null allows every tool. Otherwise names as the caller gave them, including `Bash(git *)`. */
  allowedTools: string[] | null
  maxTurns: number | null
  /** The runtime's own session to resume. */
  resumeSessionId: string | null
  readOnly: ReadOnlyRules | null
  broker: { url: string; token: string }
  mcp: { url: string; key: string } | null
  /** MCP servers of the workspace. */
  servers: Record<string, McpServer>
  /** Whether the turn may use the servers and variables that the workspace's credentials belong to. */
  credentials: boolean
  /** False for the turns of other people, whose CLI has a home of its own. */
  isOwner: boolean
  /** What the CLI may obey in the workspace. */
  obeys: {
    /**
     * Texts of the owner's `.claude/settings.json` and `settings.local.json`. Null: the workspace is the owner's
     * alone, and the CLI reads its settings and servers there itself.
     */
    settings: string[] | null
    /** False if somebody else may have written `.claude`. */
    hasFolder: boolean
  }
  /** Image files of the first turn, for a CLI that takes them as arguments. */
  imagePaths: string[]
  places: Places
}

export type Places = {
  /** Working folder of the process: the workspace, or a private home. */
  home: string
  /** Sessions and settings of the CLI, on the volume; conversations resume from it. */
  state: string
  /** Private folder of this process, outside the workspace; deleted when it ends. */
  scratch: string
}

export type ReadOnlyRules = { blocked: string[]; allowed: string[] }

export type Launch = {
  command: string
  args: string[]
  /** Null removes a variable. */
  env: Record<string, string | null>
  /**
   * Shell code that prepares the CLI's folders before it starts. It runs as the turn's user, because this
   * program must not follow links that a turn created there.
   */
  before?: string
}

export type TurnInput = { text: string; images: { mimetype: string; data: string; path: string }[] }

/** An action that follows from a line. */
export type Step =
  | { do: 'line'; line: TranscriptLine }
  | { do: 'partial'; kind: 'text' | 'thinking'; text: string }
  | { do: 'write'; text: string }
  /** Closes the input of the process. */
  | { do: 'close-input' }
  /** `isEarly`: the process would continue, but is stopped. */
  | { do: 'end'; outcome: Outcome; isEarly?: true }

export type Dialogue = {
  begin(turn: TurnInput): Step[]
  read(line: Json): Step[]
  /** Receives a chunk of standard error. */
  readError?(text: string): void
  /** Returns a line that interrupts the turn but keeps the process; null when only a signal works. */
  interrupt(): string | null
  /** Called when the process ended before a result. */
  ended(exit: Exit): Outcome
}

export type Exit = {
  /** Null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
  /** The last part of its standard error. */
  stderr: string
  /** True when the kernel's out-of-memory killer ended it. */
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
   * Set when the connection to the model broke during an answer and this CLI treated that as the end. Another
   * process continues the session with this message.
   */
  retryMessage?: string
}
